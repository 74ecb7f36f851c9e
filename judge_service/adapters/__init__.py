"""Edges of the core: the only importers of LiteLLM, llama.cpp and other outside libraries."""
