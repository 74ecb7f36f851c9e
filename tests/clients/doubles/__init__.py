"""What trainers do with a reward, for those that cannot be installed beside the service: the little
of them that the adapters meet, written anew after their contracts. The trainers themselves are in
``clients/trainer_tests``.
"""
