// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForeignSymbols.h. What a program exports comes before what a library
// needs, whatever version that was built for: a definition without a version
// satisfies a reference with one, and libMLIR has no versions at all.

#include "runtime/code/ForeignSymbols.h"

#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace attn {

namespace {
/// Symbols of a library that it does not define. With a GNU hash table these
/// are the first ones.
struct Undefined {
  explicit Undefined(const link_map &library);

  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;
  uint32_t count = 0;
};
} // namespace

Undefined::Undefined(const link_map &library) {
  const uint32_t *hash = nullptr;
  for (const ElfW(Dyn) *entry = library.l_ld; entry->d_tag != DT_NULL;
       ++entry) {
    auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB)
      symbols = reinterpret_cast<const ElfW(Sym) *>(address);
    else if (entry->d_tag == DT_STRTAB)
      names = reinterpret_cast<const char *>(address);
    else if (entry->d_tag == DT_GNU_HASH)
      hash = reinterpret_cast<const uint32_t *>(address);
  }
  // Numbers of buckets, of the first symbol in them, and others.
  if (symbols && names && hash)
    count = hash[1];
}

static bool isOfLlvm(std::string_view name) {
  return name.find("4llvm") != name.npos || name.find("4mlir") != name.npos ||
         name.substr(0, 4) == "LLVM";
}

/// True for a function that is defined there and of which there can be only
/// one. Templates and inline functions are in many places, and equal.
static bool isStrongFunction(const ElfW(Sym) * symbol) {
  return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
         ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
         symbol->st_shndx != SHN_UNDEF;
}

std::string findForeignSymbol(void *library) {
  link_map *map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return "";
  Undefined undefined(*map);
  for (uint32_t i = 0; i < undefined.count; ++i) {
    const char *name = undefined.names + undefined.symbols[i].st_name;
    void *first = isOfLlvm(name) ? dlsym(RTLD_DEFAULT, name) : nullptr;
    if (!first)
      continue;
    void *own = dlsym(library, name);
    Dl_info firstInfo, ownInfo;
    void *symbol = nullptr;
    if (!own || !dladdr(own, &ownInfo) ||
        !dladdr1(first, &firstInfo, &symbol, RTLD_DL_SYMENT) ||
        firstInfo.dli_fbase == ownInfo.dli_fbase ||
        !isStrongFunction(static_cast<const ElfW(Sym) *>(symbol)))
      continue;
    // Debian's libLLVM of another version has versions of its symbols.
    std::string file = firstInfo.dli_fname;
    if (file.compare(file.rfind('/') + 1, 7, "libLLVM") == 0)
      continue;
    return "'" + std::string(name) + "' of '" + file + "'";
  }
  return "";
}

} // namespace attn
