// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking of object code: what it may refer to, what memory it gets, and files
// that are broken.

#include "CodeTest.h"

#include "runtime/code/ElfObject.h"

#include <cstring>
#include <gmock/gmock.h>

using namespace attn;
using testing::HasSubstr;

namespace {

class LoadedCodeTest : public CodeTest {
protected:
  template <class Function> Function *lookup(const char *name) {
    return code ? reinterpret_cast<Function *>(code->lookup(name)) : nullptr;
  }
};

/// Reads a table of constants, counts its calls in a variable, calls a
/// function of its own and one of ours, and one through a pointer in data.
const char program[] = R"(
@table = internal constant [3 x i32] [i32 5, i32 7, i32 11], align 4
@count = internal global i32 40, align 4
@zeros = global [4096 x i32] zeroinitializer, align 64
@pointer = internal constant ptr @twice
@fixed = constant i32 9
declare i32 @add(i32, i32)
define internal i32 @twice(i32 %x) {
  %r = mul i32 %x, 2
  ret i32 %r
}
define i32 @entry(i64 %i) {
  %p = getelementptr i32, ptr @table, i64 %i
  %x = load i32, ptr %p
  %f = load volatile ptr, ptr @pointer
  %y = call i32 %f(i32 %x)
  %s = call i32 @add(i32 %y, i32 1000)
  ret i32 %s
}
define i32 @bump() {
  %a = load i32, ptr @count
  %b = add i32 %a, 1
  store i32 %b, ptr @count
  ret i32 %b
}
)";

int32_t add(int32_t a, int32_t b) { return a + b; }

void *resolveAdd(const std::string &name) {
  return name == "add" ? reinterpret_cast<void *>(&add) : nullptr;
}

TEST_F(LoadedCodeTest, constants_variables_and_calls) {
  load(program, resolveAdd);
  auto *entry = lookup<int32_t(int64_t)>("entry");
  auto *bump = lookup<int32_t()>("bump");
  ASSERT_TRUE(entry && bump) << failure;
  EXPECT_EQ(entry(0), 1010);
  EXPECT_EQ(entry(2), 1022);
  EXPECT_EQ(bump(), 41);
  EXPECT_EQ(bump(), 42);
  auto *zeros = lookup<int32_t>("zeros");
  ASSERT_NE(zeros, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(zeros) % 64, 0u);
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(zeros[i], 0);
}

TEST_F(LoadedCodeTest, every_load_has_its_own_variables) {
  load(program, resolveAdd);
  auto *first = lookup<int32_t()>("bump");
  ASSERT_NE(first, nullptr) << failure;
  std::unique_ptr<LoadedCode> kept = std::move(code);
  first();
  load(program, resolveAdd);
  auto *second = lookup<int32_t()>("bump");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second(), 41);
  EXPECT_EQ(first(), 42);
}

TEST_F(LoadedCodeTest, only_global_symbols_are_found) {
  load(program, resolveAdd);
  ASSERT_NE(code, nullptr) << failure;
  EXPECT_EQ(code->lookup("twice"), nullptr);
  EXPECT_EQ(code->lookup("add"), nullptr);
  EXPECT_EQ(code->lookup("nothing"), nullptr);
}

TEST_F(LoadedCodeTest, what_is_undefined_is_named) {
  load("declare void @first()\ndeclare void @second()\n"
       "define void @f() {\n  call void @first()\n  call void @second()\n"
       "  ret void\n}\n");
  EXPECT_EQ(code, nullptr);
  EXPECT_THAT(failure, HasSubstr("undefined: "));
  EXPECT_THAT(failure, HasSubstr("first"));
  EXPECT_THAT(failure, HasSubstr("second"));
}

TEST_F(LoadedCodeTest, code_is_not_writable) {
  load(program, resolveAdd);
  auto *entry = lookup<char>("entry");
  ASSERT_NE(entry, nullptr) << failure;
  EXPECT_DEATH(*static_cast<volatile char *>(entry) = 0, "");
}

TEST_F(LoadedCodeTest, constants_are_not_writable) {
  load(program, resolveAdd);
  auto *fixed = lookup<int32_t>("fixed");
  ASSERT_NE(fixed, nullptr) << failure;
  EXPECT_EQ(*fixed, 9);
  EXPECT_DEATH(*static_cast<volatile int32_t *>(fixed) = 0, "");
}

TEST_F(LoadedCodeTest, data_is_not_executable) {
  load(program, resolveAdd);
  auto *zeros = lookup<uint8_t>("zeros");
  ASSERT_NE(zeros, nullptr) << failure;
  zeros[0] = 0xc3; // ret
  EXPECT_DEATH(lookup<void()>("zeros")(), "");
}

TEST_F(LoadedCodeTest, an_empty_module_loads) {
  load("");
  EXPECT_NE(code, nullptr) << failure;
}

/// The file with flags added to its writable sections.
std::string withFlags(std::string object, uint64_t flags) {
  Elf64_Ehdr file;
  std::memcpy(&file, object.data(), sizeof file);
  for (unsigned i = 0; i < file.e_shnum; ++i) {
    char *place = object.data() + file.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, place, sizeof section);
    if (section.sh_flags & SHF_WRITE)
      section.sh_flags |= flags;
    std::memcpy(place, &section, sizeof section);
  }
  return object;
}

TEST_F(LoadedCodeTest, sections_that_ask_for_too_much_are_refused) {
  std::string object = generate(program);
  EXPECT_THAT(
      LoadedCode::load(withFlags(object, SHF_TLS), resolveAdd).error().message,
      HasSubstr("thread-local"));
  EXPECT_THAT(LoadedCode::load(withFlags(object, SHF_EXECINSTR), resolveAdd)
                  .error()
                  .message,
              HasSubstr("writable and executable"));
}

TEST_F(LoadedCodeTest, other_files_are_refused) {
  for (std::string text : {"", "no object", "\177ELF"}) {
    auto loaded = LoadedCode::load(text, resolveNothing);
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().message, "object code: expected an ELF file");
  }
  std::string object = generate(program);
  object[offsetof(Elf64_Ehdr, e_machine)] = char(EM_AARCH64);
  EXPECT_THAT(LoadedCode::load(object, resolveAdd).error().message,
              HasSubstr("expected a relocatable file for x86-64, got type 1 "
                        "for machine 183"));
}

TEST_F(LoadedCodeTest, a_file_cut_anywhere_is_refused) {
  std::string object = generate(program);
  ASSERT_TRUE(LoadedCode::load(object, resolveAdd).ok());
  // The last thing in the file is the table of sections.
  for (size_t size = 0; size < object.size(); ++size)
    ASSERT_FALSE(LoadedCode::load(object.substr(0, size), resolveAdd).ok())
        << size;
}

TEST_F(LoadedCodeTest, broken_bytes_do_not_crash_the_loader) {
  std::string object = generate(program);
  size_t refused = 0;
  for (size_t i = 0; i < object.size(); ++i)
    for (char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string broken = object;
      broken[i] = value;
      refused += !LoadedCode::load(broken, resolveAdd).ok();
    }
  // Most bytes are code or padding, which is loaded as it is.
  EXPECT_GT(refused, 100u);
}

/// The file with the kind of its first relocation replaced.
std::string withRelocation(const std::string &object, uint32_t type) {
  Result<ElfObject> parsed = ElfObject::parse(object);
  EXPECT_TRUE(parsed.ok());
  for (const ElfObject::Section &section : parsed->sections) {
    if (section.relocations.empty())
      continue;
    Elf64_Rela changed = section.relocations.front();
    std::string from(reinterpret_cast<const char *>(&changed), sizeof changed);
    changed.r_info = ELF64_R_INFO(ELF64_R_SYM(changed.r_info), type);
    std::string to(reinterpret_cast<const char *>(&changed), sizeof changed);
    std::string result = object;
    return result.replace(result.find(from), from.size(), to);
  }
  ADD_FAILURE() << "no relocation";
  return "";
}

TEST_F(LoadedCodeTest, relocations_that_do_not_fit_are_refused) {
  std::string object = generate("declare void @far()\n"
                                "define void @f() {\n  call void @far()\n"
                                "  ret void\n}\n");
  auto far = [](const std::string &) {
    return reinterpret_cast<void *>(uintptr_t(1) << 60);
  };
  auto message = [&](uint32_t type) {
    auto loaded = LoadedCode::load(withRelocation(object, type), far);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_EQ(message(R_X86_64_64), "");
  EXPECT_EQ(message(R_X86_64_PC64), "");
  EXPECT_THAT(message(R_X86_64_PC32), HasSubstr("does not reach"));
  EXPECT_THAT(message(R_X86_64_PLT32), HasSubstr("does not reach"));
  EXPECT_THAT(message(R_X86_64_TPOFF64),
              HasSubstr("type 18 are not supported"));
}

} // namespace
