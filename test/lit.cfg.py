# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration shared by the lit suites of test/ and of examples/.

The build's lit.site.cfg.py fills in the folders and then loads this file.
"""

import sys

import lit.formats
from lit.llvm import llvm_config

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "oracle"]
config.substitutions.append(("%root", config.attn_source_root))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%bin", config.attn_tools_dir))
config.substitutions.append(("%broken-run", config.attn_broken_run))
config.substitutions.append(
    ("%amx-run", f"{config.attn_tools_dir}/attn-run-amx"))
config.substitutions.append(("%plugin", config.attn_plugin))
config.substitutions.append(("%mlir-opt", f"{config.llvm_tools_dir}/mlir-opt"))
# Tests compile what they test, and leave the cache of who runs them alone.
config.environment["ATTN_CACHE_DIR"] = ""
# Memory that nobody wrote holds no zeros.
config.environment["MALLOC_PERTURB_"] = "165"

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.attn_tools_dir, append_path=True)
llvm_config.add_tool_substitutions(
    ["attn-lsp-server", "attn-opt", "attn-reduce", "attn-run"],
    [config.attn_tools_dir])
llvm_config.add_tool_substitutions(
    ["FileCheck", "count", "not", "split-file"], [config.llvm_tools_dir])

# A program without sanitizers can't load a library with them.
if not config.attn_sanitize:
    config.available_features.add("plugin")

# A test names the target it compiles for; running that code needs a machine
# that has the instructions: "REQUIRES: avx512".
CPU_FEATURES = {
    "avx2": {"avx2", "fma", "f16c"},
    "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "avx512bf16": {"avx512bw", "avx512dq", "avx512vl", "avx512_bf16"},
    "amx": {"amx_tile", "amx_bf16"},
}


def read_cpu_flags():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


cpu_flags = read_cpu_flags()
for feature, needed in CPU_FEATURES.items():
    if needed <= cpu_flags:
        config.available_features.add(feature)
