"""Trainers that know an address and nothing else: ``/adapters/{trainer}/{rubric}/…``.

Everything a trainer cannot say in its body stands in the query, and each is answered in the words
of its own reward function, failures included.
"""

from __future__ import annotations

from fastapi import APIRouter

from judge_service.api.trainers import nemo_gym, openrlhf, slime

router = APIRouter(prefix="/adapters", tags=["trainers"])
for _trainer in (openrlhf, slime, nemo_gym):
    router.include_router(_trainer.router)
