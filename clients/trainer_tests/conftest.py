"""Paths of the client and of the stand-in for the service; nothing is fetched from a network."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients" / "src"), str(ROOT), str(Path(__file__).resolve().parent)]
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
