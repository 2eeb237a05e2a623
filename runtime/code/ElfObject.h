// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a relocatable ELF file that a loader needs, checked against the
// bounds of the file. Internal; no LLVM.

#ifndef ATTN_RUNTIME_CODE_ELFOBJECT_H
#define ATTN_RUNTIME_CODE_ELFOBJECT_H

#include "runtime/Result.h"

#include <cstdint>
#include <elf.h>
#include <string_view>
#include <vector>

namespace attn {

struct ElfObject {
  struct Section {
    uint64_t flags = 0;
    /// A power of two, at most a page.
    uint64_t alignment = 1;
    uint64_t size = 0;
    /// Empty where the file holds no bytes: those are zeros.
    std::string_view content;
    std::vector<Elf64_Rela> relocations;

    bool isLoaded() const { return flags & SHF_ALLOC; }
    bool isWritable() const { return flags & SHF_WRITE; }
    bool isExecutable() const { return flags & SHF_EXECINSTR; }
  };
  struct Symbol {
    std::string_view name;
    bool isGlobal = false;
    /// Undefined symbols are in section SHN_UNDEF, which is 0; the others in a
    /// section of the table, not beyond its end.
    uint32_t section = SHN_UNDEF;
    uint64_t value = 0;
  };

  std::vector<Section> sections;
  std::vector<Symbol> symbols;

  /// Takes what LLVM writes for x86-64; the views are into `bytes`.
  static Result<ElfObject> parse(std::string_view bytes);
};

} // namespace attn

#endif // ATTN_RUNTIME_CODE_ELFOBJECT_H
