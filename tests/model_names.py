"""Names of models as they are met, with their families."""

from __future__ import annotations

NAMES: dict[str, str] = {
    "openai": """gpt-5-mini gpt-5.1-codex-max gpt-4o gpt-4.1-nano-2025-04-14 gpt-35-turbo gpt4o gpt2
        gpt-oss-120b gpt-oss:20b chatgpt-4o-latest gpt-chat-latest o1 o3-mini o4-mini-2025-04-16
        text-davinci-003 davinci-002 gpt-6.1-sol gpt-3.5-turbo-16k codex-mini GPT-4-Turbo""",
    "anthropic": """claude-3-5-sonnet-20241022 claude-opus-4-8 claude-sonnet-4.5 claude-instant-v1
        claude-2.1 claude-haiku-4-5@20251001 databricks-claude-sonnet-5
        claude_fable_5 sonnet-4.5""",
    "google": """gemini-2.5-pro gemini-3-flash-preview gemini-flash-latest gemma-3-27b-it gemma2:9b
        codegemma medgemma-27b-text-it paligemma2-3b text-bison palm-2 flan-t5-xl shieldgemma-9b""",
    "qwen": """qwen3-4b Qwen2.5-72B-Instruct qwen-plus-latest QwQ-32B qvq-72b-preview codeqwen1.5-7b
        qwen3p8-max tongyi-deepresearch-30b qwen1p5-72b Qwen3-Coder-480B-A35B-Instruct
        openthinker-7b Sky-T1-32B-Preview marco-o1 qwen3:8b""",
    "llama": """llama-4-maverick Llama-3.3-70B-Instruct llama3.1:8b codellama-34b-instruct tinyllama
        llama-guard-4-12b Meta-Llama-3-8B llama-v3p1-405b-instruct llama2 open_llama_7b
        vicuna-13b-v1.5 alpaca-7b muse-spark-1.3 opt-6.7b llava-7b code-llama-70b""",
    "mistral": """mistral-large-latest mixtral-8x7b-instruct ministral-8b-2512 codestral-2501
        devstral-small magistral-medium pixtral-12b mathstral-7b open-mistral-nemo voxtral-small
        zephyr-7b-beta openchat-3.5 prometheus-7b-v2.0 biomistral-7b""",
    "deepseek": """deepseek-chat deepseek-r1-0528 DeepSeek-V3.2-Exp deepseek-v3p1 deepseek_v3
        deepseek-coder-33b-instruct deepseek-r1:671b""",
    "xai": "grok-4 grok-code-fast-1 grok-4.20-reasoning-latest databricks-grok-4-7 grok2",
    "cohere": "command-r-plus-08-2024 command-a-03-2025 c4ai-command-r-v01 aya-expanse-32b command",
    "microsoft": "phi-4 Phi-3.5-mini-instruct phi3:mini phi-4-reasoning mai-thinking-1 bitnet-2b",
    "nvidia": "nemotron-3-super-120b-a12b nemotron-4-340b-instruct NVIDIA-Nemotron-Nano-9B-v2",
    "amazon": "amazon.nova-pro-v1:0 nova-2-lite nova-premier-v1 titan-text-express-v1",
    "ibm": "granite-4.0-h-micro granite-13b-chat-v2 granite-code-34b granite-guardian-3.3-8b",
    "ai21": "jamba-1.5-large jamba-mini-1.7 j2-ultra jurassic-2-mid",
    "zhipu": "glm-4.6 glm-5p2 chatglm3-6b glm4 autoglm-phone-9b codegeex4 GLM-4.5-Air zai-glm-5",
    "moonshot": "kimi-k2-instruct-0905 kimi-k3 moonshot-v1-128k Moonlight-16B-A3B Kimi-VL-A3B",
    "minimax": "MiniMax-M2.5 minimax-m1-80k MiniMax-Text-01 abab6.5-chat",
    "baichuan": "Baichuan2-13B-Chat baichuan-m2-32b",
    "internlm": "internlm2_5-20b-chat internlm3-8b-instruct",
    "yi": "yi-34b-chat Yi-1.5-9B-Chat yi-large yi-lightning Yi-Coder-9B",
    "tencent": "hunyuan-turbos Hunyuan-A13B-Instruct Tencent-Hunyuan-Large hy3",
    "baidu": "ernie-4.5-300b-a47b ERNIE-5.1 ernie-x1-turbo",
    "bytedance": "doubao-seed-2-0-pro-260215 Seed-OSS-36B-Instruct skylark-pro seed-1.8",
    "stepfun": "step-3.7-flash step-2-16k step3 step-1v-8k",
    "xiaomi": "mimo-v2-flash MiMo-7B-RL mimo-vl-7b",
    "olmo": "OLMo-2-1124-13B-Instruct olmo-3-32b-think olmoe-1b-7b",
    "smollm": "SmolLM2-135M-Instruct smollm3-3b smolvlm-500m",
    "falcon": "falcon-40b-instruct falcon3-10b-instruct falcon-h1-34b falcon:7b",
    "starcoder": "starcoder2-15b starchat-beta santacoder",
    "stability": "stablelm-2-12b-chat stablelm-zephyr-3b stablecode-3b",
    "reka": "reka-core reka-flash-3",
    "writer": "palmyra-x5 writer.palmyra-x4-v1:0",
    "liquid": "lfm-40b LFM2-1.2B lfm2.5-1.2b-instruct",
    "upstage": "solar-pro-2 solar-mini solar-open-100b",
    "lg": "EXAONE-4.0-32B exaone-3.5-7.8b-instruct",
    "databricks": "dbrx-instruct mpt-30b-chat",
    "snowflake": "snowflake-arctic arctic-instruct",
    "inflection": "inflection-3-pi inflection_3_productivity",
    "eleutherai": "pythia-12b gpt-neox-20b gpt-j-6b gpt-neo-2.7B gptj",
    "bloom": "bloom-7b1 bloomz-560m bloom",
    "cerebras": "Cerebras-GPT-13B cerebras-gpt-2.7b",
    "openbmb": "MiniCPM-V-4_5 minicpm3-4b",
    "ant": "ling-3.0-flash Ring-1T Ling-lite-1.5",
    "inception": "mercury-coder-small mercury-2",
}
TWO_FAMILIES = {
    "deepseek-r1-distill-qwen-7b": "deepseek qwen",
    "DeepSeek-R1-Distill-Llama-70B": "deepseek llama",
    "deepseek-r1-0528-qwen3-8b": "deepseek qwen",
    "deepseek-r1-7b-qwen": "deepseek qwen",
    "ollama/deepseek-r1:14b": "deepseek qwen",
    "ollama/deepseek-r1:70b": "deepseek llama",
    "ollama/deepseek-r1:8b": "deepseek llama qwen",
    "ollama/deepseek-r1": "deepseek llama qwen",
    "R1-Distill-Qwen-32B": "deepseek qwen",
    "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF": "llama nvidia",
    "llama-3_1-nemotron-ultra-253b-v1": "llama nvidia",
    "OpenReasoning-Nemotron-32B": "nvidia qwen",
    "nemotron-70b-instruct": "llama nvidia",
    "llama-3-8b-distill-claude": "anthropic llama",
    "my_Qwen3-8B_distilled-from_GPT-4o": "openai qwen",
    "allenai/Llama-3.1-Tulu-3-70B": "llama olmo",
    "tulu-2-dpo-70b": "llama olmo",
    "sonar-pro": "llama perplexity",
    "llama-3.1-sonar-large-128k-online": "llama perplexity",
    "r1-1776": "deepseek perplexity",
    "NousResearch/Hermes-3-Llama-3.1-8B": "llama nous",
    "hermes-4-405b": "llama nous",
    "hermes-4-14b": "nous qwen",
    "Nous-Hermes-2-Mixtral-8x7B-DPO": "mistral nous",
    "microsoft/WizardLM-2-8x22B": "microsoft mistral",
    "wizardlm-13b-v1.2": "llama microsoft",
    "MAI-DS-R1": "deepseek microsoft",
    "SOLAR-10.7B-Instruct-v1.0": "mistral upstage",
    "Kimi-Dev-72B": "moonshot qwen",
    "InternVL3-78B": "internlm qwen",
    "gpt4-x-vicuna-13b": "llama openai",
    "dolphin-2.9-llama3-8b": "llama",
    "llava-v1.6-mistral-7b-hf": "mistral",
    "zephyr-7b-gemma-v0.1": "google",
    "MiniCPM-Llama3-V-2_5": "llama openbmb",
}
PREFIXED = {
    "openai/gpt-4o": "openai",
    "azure/gpt-4o-prod": "openai",
    "azure/us/gpt-4o-2024-08-06": "openai",
    "azure_ai/Phi-4": "microsoft",
    "openrouter/anthropic/claude-sonnet-4.5": "anthropic",
    "openrouter/openai/gpt-oss-20b:free": "openai",
    "openrouter/z-ai/glm-4.6:exacto": "zhipu",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": "anthropic",
    "bedrock/converse/eu.meta.llama3-2-3b-instruct-v1:0": "llama",
    "bedrock/us-east-1/1-month-commitment/anthropic.claude-v2:1": "anthropic",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-v1:0": (
        "anthropic"
    ),
    "bedrock/arn:aws:bedrock:us-west-2::foundation-model/qwen.qwen3-32b-v1:0": "qwen",
    "deepseek.v3.1": "deepseek",
    "us.deepseek.r1-v1:0": "deepseek",
    "vertex_ai/gemini-2.5-flash": "google",
    "vertex_ai/claude-sonnet-4-5@20250929": "anthropic",
    "vertex_ai/meta/llama-3.1-405b-instruct-maas": "llama",
    "publishers/google/models/gemini-2.5-pro": "google",
    "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo": "llama",
    "fireworks_ai/accounts/fireworks/models/llama-v3p1-405b-instruct": "llama",
    "fireworks_ai/accounts/fireworks/models/qwen3-8b#accounts/gpt-4/deployments/1": "qwen",
    "groq/openai/gpt-oss-120b": "openai",
    "groq/llama-3.1-8b-instant": "llama",
    "deepinfra/Qwen/Qwen3-32B": "qwen",
    "hosted_vllm/Qwen/Qwen3-8B": "qwen",
    "hosted_vllm//models/Qwen2.5-7B-Instruct": "qwen",
    "ollama/llama3.1:8b": "llama",
    "ollama/llama3": "llama",
    "ollama_chat/mistral": "mistral",
    "ollama/phi": "microsoft",
    "ollama/hf.co/bartowski/Qwen2.5-7B-GGUF:Q4_K_M": "qwen",
    "huggingface/together/deepseek-ai/DeepSeek-V3": "deepseek",
    "replicate/meta/llama-2-70b-chat:02e509c789964a7ea8736978a43525956ef40397be9033abf9": "llama",
    "nvidia_nim/meta/llama3-70b-instruct": "llama",
    "sambanova/Qwen3-32B": "qwen",
    "cerebras/llama-3.3-70b": "llama",
    "github/DeepSeek-R1": "deepseek",
    "databricks/databricks-meta-llama-3-3-70b-instruct": "llama",
    "sagemaker/jumpstart-dft-meta-textgeneration-llama-3-8b": "llama",
    "dashscope/qwen-max": "qwen",
    "dashscope/deepseek-v3": "deepseek",
    "volcengine/doubao-seed-1-6-250615": "bytedance",
    "openai/qwen3-32b": "qwen",
    "anthropic/kimi-k2-turbo-preview": "moonshot",
    "mistral/mistral-small-latest": "mistral",
    "xai/grok-4": "xai",
    "cloudflare/@cf/qwen/qwq-32b": "qwen",
    "microsoft/phi-4": "microsoft",
    "Qwen/QwQ-32B": "qwen",
    "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit": "llama",
    "TheBloke/Mistral-7B-Instruct-v0.2-GGUF": "mistral",
    "neuralmagic/Mixtral-8x7B-Instruct-v0.1-FP8": "mistral",
    "google/Qwen2.5-7B-tuned": "qwen",
    "ft:gpt-4o-mini-2024-07-18:acme-qwen::9abc": "openai",
    "openai/ft:gpt-4.1-2025-04-14:llama-team:judge:1": "openai",
    "SmolLM2-135M-Instruct.Q4_1.gguf": "smollm",
    r"C:\models\Qwen3-4B.gguf": "qwen",
    "/data/ckpts/verl_grpo/qwen3_4b_gsm8k/global_step_100/actor/huggingface": "qwen",
    "outputs/Llama-3.2-3B-grpo/checkpoint-200": "llama",
    "/runs/qwen2.5-7b/step-3": "qwen",
    "/hf/hub/models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218": "qwen",
    "models--mistralai--Mistral-7B-v0.1": "mistral",
    "  GPT-4o  ": "openai",
}
OWN_HOUSE_ONLY = {
    "mistral/labs-unheard-of-1": "mistral",
    "openrouter/mistralai/unheard-of": "mistral",
    "gemini/unheard-of": "google",
    "xai/unheard-of": "xai",
    "openrouter/anthropic/unheard-of": "anthropic",
    "bedrock/us.anthropic.unheard-of-v1:0": "anthropic",
    "deepseek-ai/Janus-Pro-7B": "deepseek",
    "CohereLabs/unheard-of": "cohere",
}
UNKNOWN = """azure/my-deployment openai/my-model anthropic/my-alias hosted_vllm/judge auto
    openrouter/auto model-router yield-model-7b option-large proto1 dolphin chatdolphin innovation-1
    command-center-v2 solar-system-13b titanic-7b supernova-3 sonarqube arctic-monkey seed-42
    grpo-seed42 policy-seed1-run2 run-step-3000 step-300 my-run-step-3 falconry nova terranova-pro
    o2 foo-o1 skyo1 palmetto maya-7b opt-in adopt-13b phidias dolphin-7b bloomberg beam bluebeam-2
    nvidia/my-finetune microsoft/my-finetune upstage/foo vertex_ai/openai/1234567890
    bedrock/arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/r742sbn2zckd
    bedrock/llama/arn:aws:bedrock:us-east-1:123456789012:imported-model/r4c4kewx2s0n
    /home/mistral/my-judge ./qwen/exp12 /models/llama.cpp/judge.gguf my-ollama-judge llama-cpp-7b
    nous-capybara-7b hermes-2-7b openhermes cerebras minimax-agent ling glmnet reflection-9b
    claudette grokking-run geminids-3 checkpoint-500 0 : / // @ # . -"""
