"""Names that identify nobody: accounts and sites that everybody has, and words that machines, folders and operators are called by."""

from __future__ import annotations

import re

USERS = frozenset(
    {"root", "hwhiaiuser", "hwbaseuser", "hwdmuser", "hwmindx", "ma-user", "ma-group", "user", "user_name", "username", "users", "nobody", "nogroup", "none",
     "null", "true", "false", "unknown", "default", "admin", "daemon", "your_name", "x", "u", "wheel", "docker", "bin", "sys", "adm", "sudo", "tty",
     "disk", "messagebus", "dbus", "polkitd", "systemd+", "systemd-network", "chrony", "sshd", "postfix", "ntp", "rpc", "rpcuser", "avahi", "kube", "mindie",
     "public", "shared", "common", "anonymous", "guest", "me", "owner", "group", "uid", "gid", "pid", "name", "id", "is", "not", "space", "mode", "defined"}
)  # fmt: skip
HOSTS = frozenset(
    {"localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "host.docker.internal",
     "kubernetes.default.svc", "none", "null", "true", "false", "unknown", "auto", "any", "sha256", "threading.local", "werkzeug.local",
     "pci-host", "x86-64"}
)  # fmt: skip
NAMESPACES = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "mindx-dl", "mindxdl", "volcano-system", "npu-exporter", "monitoring", "istio-system",
     "cluster-system", "user", "std", "torch", "c10", "at", "the", "is", "and", "package", "packages", "of", "not", "npu", "acl", "ge", "hccl", "op", "xml"}
)  # fmt: skip
DOMAINS = (
    "github.com", "githubusercontent.com", "github.io", "gitee.com", "gitcode.com", "gitcode.net", "hiascend.com", "huawei.com",
    "huaweicloud.com", "myhuaweicloud.com", "huggingface.co", "hf.co", "hf-mirror.com", "modelscope.cn", "modelscope.ai", "pypi.org",
    "pythonhosted.org", "python.org", "pytorch.org", "readthedocs.io", "readthedocs.org", "openeuler.org", "mindspore.cn", "vllm.ai",
    "docker.com", "docker.io", "quay.io", "ghcr.io", "gcr.io", "registry.k8s.io", "kernel.org", "kubernetes.io", "k8s.io", "ubuntu.com", "debian.org", "kylinos.cn", "aliyun.com",
    "aliyuncs.com", "tuna.tsinghua.edu.cn", "ustc.edu.cn", "npmjs.org", "gnu.org", "nvidia.com", "google.com", "googleapis.com",
    "wandb.ai", "openmpi.org", "open-mpi.org", "stackoverflow.com", "csdn.net", "zhihu.com", "example.com", "example.org", "ietf.org",
    "w3.org", "json-schema.org", "npu-doctor.dev", "osinfra.cn", "mulanos.cn", "oss-cn.com", "nju.edu.cn", "man7.org", "redhat.com",
    "anaconda.com", "anaconda.org", "conda.io", "pypa.io", "swanlab.cn", "volcano.sh", "ray.io", "pydantic.dev", "errors.pydantic.dev", "slack.com",
    "feishu.cn", "larksuite.com", "qq.com", "dingtalk.com", "discord.com", "office.com", "telegram.org", "ftqq.com", "day.app", "amazonaws.com", "windows.net",
    "openai.com", "bit.ly", "aka.ms", "opensource.org", "apache.org", "mozilla.org", "rust-lang.org", "golang.org", "onnx.ai", "docker.internal", "huawei.cloud",
)  # fmt: skip
_DOMAIN_ENDS = tuple(f".{d}" for d in DOMAINS)
_GENERIC_HOST = re.compile(r"(?:node|worker|host|server|pod|master|rank|head|slave|agent|localhost)[-_]?\d{0,4}")
_REGION = re.compile(r"(?:cn|ap|eu|us|la|af|me|sa|na)-(?:north|south|east|west|southeast|southwest|northeast|central|hangzhou|beijing|shanghai|shenzhen)-?\d?")

# Folders that stand in /data, /mnt, /nfs ... and are nobody's home.
FOLDERS = frozenset(
    """
    a archive archives app apps ascend asc assets atlas audio audios aicpu awq backup backups baichuan base bench benchmark benchmarks bert bge bin bloom build builds
    cache caches ceph ceval checkpoint checkpoints chatglm ckpt ckpts clip cluster cmmlu coco code codes common compile compose conda conf config configs container containers
    corpora corpus cosyvoice core cores crash cuda data database databases dataset datasets debug deepseek default demo demos deploy dev dist doc docker docs download downloads
    driver dump dumps engine env envs etc eval evaluation example examples exp experiment experiments export exports files finetune flux glm global glusterfs gpfs gsm grafana
    graph graphs home host huawei hub huggingface image imagenet images img imgs infer inference infra input inputs install internlm internvl iso job jobs json jupyter kernel
    kernels kubelet lab label labels lib library libs llama llava llm llms local log logs lora lost lustre main media megatron meta mindie mindspeed mindspore mini minicpm minio
    mirror mistral mixtral mllm mmlu mnist mnt model modelarts modelhub modellink models modelscope modelzoo module modules monitor moxing mpi multimodal music new nfs node nodes
    notebook notebooks npu npus obs offline old ollama onnx op open openmind opensource opensora ops opt oss other others output outputs owner package packages pangu
    persistent pip pipeline pkg plog plugin plugins pretrain pretrained prof profile profiler profiling program project projects prometheus prompt prompts pub public publish pvc
    pytorch python pyenv qwen qwenvl ray raw recipe record records release releases repo repos report reports repository resource resources result results root run runs
    runtime sample samples save saved scratch script scripts sd sdk secret serve server service services shard shards share shared sglang site slurm software soft source
    sources spack squad src stable staging storage store swap swift sys system task tasks team temp template tensorboard tensorflow test testing tests text tf third thirdparty tmp
    tokenizer tool toolkit tools torch trace train trainer training transformers trash tts tuning ubuntu ultralytics upload uploads user users usr utils uv var venv verl
    version versions video videos vit vllm vlm vol volume volumes wan wandb weight weights wheel wheels whisper whl wiki wikitext wikipedia words work worker workdir workload
    workspace workspaces detector stack anaconda miniconda miniforge mamba sft rlhf dpo grpo ppo comfy comfyui gen moe lmcache out in dp tp pp ep rl sd cv nlp ocr asr tts agent agents api bot chat cli client codes com comm cpp cpu customer daily debugging decoder demos distributed dl emb embed embedding encoder eval fed fsdp gpu gpus hdd hf inner lmdeploy lmeval ml nas online outs paddle param params pkgs post preprocess private prj proj python quant quantized rag rank ranks rec remote rerank reward rollout router seed serving sim slime spec speech stage ssd step stt sub sync target teacher third topk trl unit vision voice web wf work xtuner yi yolo yuan zoo fuwu jiaoben shuju gongju xunlian ceshi moxing lianghua wenku tongyi wenxin hunyuan shengteng kunlun kunpeng
    """.split()  # noqa: SIM905 - a list of words
)

_OPERATOR = re.compile(r"[A-Za-z]*[A-Z][a-z0-9]+[A-Za-z0-9]*(?:[_/.-]\w+)*|(?:\w+/)+\w+|(?:partitioned_call|trans|atomic|data|const|cast|hcom|graph|ge|aclnn|op|netoutput|memcpy|model)_\w+")


def is_user(name: str) -> bool:
    """Accounts that every machine has, and components of CANN, which own things as well: owner=AICPU."""
    return name.lower() in USERS or (name.isupper() and name.isalpha())


def is_host(name: str) -> bool:
    """Names of sites that everybody knows, and names such as node-3, which say nothing."""
    low = name.lower().rstrip(".")
    return low in HOSTS or low in DOMAINS or low.endswith(_DOMAIN_ENDS) or _GENERIC_HOST.fullmatch(low) is not None or _REGION.fullmatch(low) is not None


def is_operator(name: str) -> bool:
    """A node of a graph, not of a cluster: GatherV2_123, partitioned_call_0."""
    return _OPERATOR.fullmatch(name) is not None
