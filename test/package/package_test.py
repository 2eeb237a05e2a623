#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is installed serves programs outside of the tree.

    package_test.py BUILD_DIR WORK_DIR install
    package_test.py BUILD_DIR WORK_DIR headers|errors
    package_test.py BUILD_DIR WORK_DIR EXAMPLE COMPILER

`install` comes first. It installs into a folder, uses what is there, and then
moves the folder: all that comes after runs from where nobody installed to. The
examples, which are projects of their own, are built there with one compiler.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# LLVM is not to be found by who doesn't need it.
NO_LLVM = ["-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON",
           "-DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON"]


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def run(*command, status=0, **variables):
    """The output of a command that has to end with this status."""
    result = subprocess.run([str(word) for word in command], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, **variables}, check=False)
    print("$", *command, "\n" + result.stdout, flush=True)
    expect((result.returncode != 0) == (status != 0),
           f"{command[0]}: expected exit status {status}, "
           f"got {result.returncode}")
    return result.stdout


def configure(source, build, prefix, compiler, *options, status=0):
    shutil.rmtree(build, ignore_errors=True)
    return run("cmake", "-S", source, "-B", build, "-G", "Ninja",
               f"-DCMAKE_PREFIX_PATH={prefix}",
               f"-DCMAKE_CXX_COMPILER={compiler}",
               "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror -Wno-unused-parameter",
               "-DCMAKE_BUILD_TYPE=Release", *options, status=status)


def c_compiler_of(compiler):
    return compiler.replace("clang++", "clang").replace("g++", "gcc")


def pkg_config(prefix, package):
    """What a compiler is told for a package that is installed at `prefix`."""
    folder = next(prefix.rglob(f"{package}.pc")).parent
    return run("pkg-config", "--cflags", "--libs", package,
               PKG_CONFIG_PATH=str(folder)).split()


def needed(file):
    return re.findall(r"Shared library: \[([^\]]*)\]",
                      run("readelf", "-d", file))


def expect_no_llvm(file):
    libraries = needed(file)
    expect(libraries, f"{file}: expected a dynamic program")
    expect(not [name for name in libraries if re.match("lib(LLVM|MLIR)", name)],
           f"{file}: expected no library of LLVM, got {libraries}")


def check_jit_host(build, prefix, compiler):
    configure(EXAMPLES / "jit-host", build, prefix, compiler, *NO_LLVM)
    run("cmake", "--build", build)
    output = run(build / "jit-host", EXAMPLES / "ir/sliding-window.mlir")
    expect("ok: largest difference" in output, "jit-host: expected ok")
    expect_no_llvm(build / "jit-host")
    flags = pkg_config(prefix, "attn")
    libraries = [flag[2:] for flag in flags if flag.startswith("-L")]
    run(compiler, "-std=c++17", EXAMPLES / "jit-host/main.cpp", *flags,
        f"-Wl,-rpath,{libraries[0]}", "-o", build / "by-hand")
    output = run(build / "by-hand", EXAMPLES / "ir/sliding-window.mlir")
    expect("ok: largest difference" in output, "by-hand: expected ok")


def check_attention_spec(build, prefix, compiler):
    configure(EXAMPLES / "attention-spec", build, prefix, compiler, *NO_LLVM)
    run("cmake", "--build", build)
    output = run(build / "attention-spec")
    expect("ok: largest difference" in output, "attention-spec: expected ok")


def check_opt_tool(build, prefix, compiler):
    configure(EXAMPLES / "opt-tool", build, prefix, compiler)
    run("cmake", "--build", build)
    tool, source = build / "strided-opt", EXAMPLES / "opt-tool/strided.mlir"
    printed = run(tool, source)
    expect("mask(#attn.causal, #strided.every<8>)" in printed,
           "strided-opt: expected both masks in what it prints")
    tiled = run(tool, source, "--attn-to-tile=target=cpu:avx2")
    expect("attn.online_softmax" in tiled and "arith.remsi" in tiled,
           "strided-opt: expected the mask within tiles")
    wrong = build / "wrong.mlir"
    wrong.write_text(source.read_text().replace("every<8>", "every<0>"))
    expect("every: expected a step >= 1, got 0" in run(tool, wrong, status=1),
           "strided-opt: expected the mask to be verified")


def check_ahead(build, prefix, compiler):
    configure(EXAMPLES / "ahead", build, prefix, compiler, *NO_LLVM)
    run("cmake", "--build", build)
    program = build / "ahead"
    expect("ok: largest difference" in run(program), "ahead: expected ok")
    expect_no_llvm(program)
    expect(not [name for name in needed(program) if "attn" in name],
           "ahead: expected no library of attn")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        subprocess.run([program], stdout=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.perf_counter() - start))
    print(f"from start to result: {statistics.median(times):.1f} ms, "
          f"at best {min(times):.1f} ms")


def check_ahead_errors(build, prefix, compiler):
    configure(pathlib.Path(__file__).parent / "ahead-errors", build, prefix,
              compiler, f"-DCMAKE_C_COMPILER={c_compiler_of(compiler)}",
              "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror", *NO_LLVM)
    run("cmake", "--build", build)
    # Calls that name no number of threads have as many as OpenMP says.
    output = run(build / "ahead-errors", OMP_NUM_THREADS="5")
    expect("5 threads" in output, "ahead-errors: expected 5 threads")


def check_ahead_c(build, prefix, compiler):
    """A project that knows C alone, and the same program without CMake."""
    c_compiler = c_compiler_of(compiler)
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    configure(EXAMPLES / "ahead-c", build, prefix, compiler,
              f"-DCMAKE_C_COMPILER={c_compiler}",
              f"-DCMAKE_C_FLAGS={' '.join(strict)}", *NO_LLVM)
    cache = (build / "CMakeCache.txt").read_text()
    expect("CMAKE_CXX_COMPILER_AR" not in cache,
           "ahead-c: expected a project without C++")
    run("cmake", "--build", build)
    expect("ok: 24 rows" in run(build / "ahead-c"), "ahead-c: expected ok")

    run(prefix / "bin/attn-run", EXAMPLES / "ahead/attention.mlir",
        "--emit=obj", "-o", build / "attention.o")
    run(c_compiler, *strict, "-I", build, EXAMPLES / "ahead-c/main.c",
        build / "attention.o", *pkg_config(prefix, "attn-ahead"), "-o",
        build / "by-hand")
    expect("ok: 24 rows" in run(build / "by-hand"), "by-hand: expected ok")
    expect_no_llvm(build / "by-hand")

    # The other component is found, too, though its headers are C++.
    project = build / "both"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\n"
        "find_package(attn REQUIRED COMPONENTS runtime ahead)\n")
    configure(project, project / "build", prefix, compiler, *NO_LLVM)


def check_plug_ins(build, prefix, compiler):
    configure(pathlib.Path(__file__).parent / "plug-ins", build, prefix,
              compiler, f"-DCMAKE_C_COMPILER={c_compiler_of(compiler)}",
              "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror", *NO_LLVM)
    run("cmake", "--build", build)
    output = run(build / "host", build / "libfirst.so", build / "libsecond.so")
    expect("ok: 8 plug-ins" in output, "plug-ins: expected ok")
    # Else the test sees nothing of what it is for.
    expect("at the address of the one before" in output,
           "plug-ins: expected one at the address of another")


EXAMPLE_CHECKS = {"jit-host": check_jit_host,
                  "attention-spec": check_attention_spec,
                  "opt-tool": check_opt_tool, "ahead": check_ahead,
                  "ahead-c": check_ahead_c,
                  "ahead-errors": check_ahead_errors,
                  "plug-ins": check_plug_ins}


def check_programs(prefix):
    source = EXAMPLES / "ir/causal.mlir"
    output = run(prefix / "bin/attn-run", source, "--check")
    expect("check o: ok" in output, "attn-run: expected ok")
    output = run(prefix / "bin/attn-opt", source, "--attn-to-tile")
    expect("attn.online_softmax" in output, "attn-opt: expected tiles")
    expect("usage: attn-bench" in run(prefix / "bin/attn-bench", "--help"),
           "attn-bench: expected its usage")
    # By a relative name, through a link and from elsewhere.
    link = prefix / "link-to-attn-run"
    link.symlink_to("bin/attn-run")
    output = run("sh", "-c", f"cd {prefix}/lib && ../link-to-attn-run {source}")
    expect("o: 1x8x500x64xf32" in output, "attn-run: expected a summary")
    link.unlink()


def install(build, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    first = work / "installed"
    run("cmake", "--install", build, "--prefix", first)
    check_programs(first)
    check_jit_host(work / "installed-jit-host", first, "clang++-22")
    for name in ("LICENSE", "SECURITY.md"):
        expect((first / "share/doc/attn" / name).read_text() ==
               (ROOT / name).read_text(), f"{name}: expected it installed")
    first.rename(work / "moved")
    check_programs(work / "moved")
    for path in (work / "moved").rglob("*"):
        if path.suffix in (".cmake", ".pc") or "include" in path.parts:
            if path.is_file() and re.search(
                    f"{re.escape(str(work))}|{re.escape(str(ROOT))}",
                    path.read_text()):
                raise Failure(f"{path}: names a folder of this machine")


def check_headers(_build, work):
    """Each public header of the runtime compiles alone, where LLVM isn't."""
    include = work / "moved/include"
    headers = sorted((include / "attn/runtime").glob("*.h"))
    expect(headers, f"{include}: expected headers")
    for header in headers:
        for compiler in ("g++", "clang++-22"):
            run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror",
                "-fsyntax-only", "-I", include, "-x", "c++", "-include", header,
                os.devnull)


def check_errors(_build, work):
    project = work / "errors"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()

    def message(find, *options):
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
            f"find_package({find})\n")
        output = configure(project, project / "build", work / "moved",
                           "clang++-22", *options, status=1)
        return " ".join(output.split())

    for find, options, expected in [
            ("attn REQUIRED COMPONENTS gpu", [],
             "components of attn: expected some of runtime, mlir, ahead"),
            ("attn REQUIRED COMPONENTS runtime mlir", NO_LLVM,
             "component mlir of attn: expected MLIR 22.1"),
            ("attn 7.1 REQUIRED", [],
             "compatible with requested version \"7.1\""),
    ]:
        got = message(find, *options)
        expect(expected in got, f"{find}: expected '{expected}'")


def main():
    build, work = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    what, compiler = (sys.argv[3:] + [None])[:2]
    try:
        if compiler:
            EXAMPLE_CHECKS[what](work / f"{what}-{compiler}", work / "moved",
                                 compiler)
        else:
            {"install": install, "headers": check_headers,
             "errors": check_errors}[what](build, work)
    except Failure as failure:
        print(f"package_test.py: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
