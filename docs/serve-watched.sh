#!/bin/sh
# Serves a model with vLLM and prints the diagnosis when the server dies, whatever it dies of:
#     sh serve-watched.sh MODEL [options of vllm serve]
# NPU_DOCTOR_SAVE=FOLDER keeps its output and the logs that it wrote. Its exit code is vLLM's.
set -eu
if test "$#" -eq 0; then
  echo "usage: sh $0 MODEL [options of vllm serve]" >&2
  exit 2
fi
exec npu-doctor run ${NPU_DOCTOR_SAVE:+--save "$NPU_DOCTOR_SAVE"} -- vllm serve "$@"
