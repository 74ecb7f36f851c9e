"""MLflow: a judge of ``make_judge``, which is synchronous, on as many threads as are in flight."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mlflow.genai.judges import make_judge


def make(asked: Any) -> Any:
    """Judge a list on a pool of threads."""
    scale = "\n".join(f"{n}: {means}" for n, means in enumerate(asked.points, 1))
    judge = make_judge(
        name="quality",
        instructions=f"{asked.question}\n{scale}\nQuestion: {{{{ inputs }}}}\n"
        "Response: {{ outputs }}",
        model=f"openai:/{asked.model}",
        feedback_value_type=int,
        inference_params={"temperature": 0.0, "max_tokens": 1024},
        base_url=f"{asked.base_url}/chat/completions",
    )
    threads = ThreadPoolExecutor(asked.in_flight)

    def one(pair: tuple[str, str]) -> float:
        prompt, candidate = pair
        feedback = judge(inputs={"question": prompt}, outputs={"response": candidate})
        if feedback.error is not None:
            raise RuntimeError(feedback.error)
        return feedback.value

    return lambda pairs: list(threads.map(one, pairs))
