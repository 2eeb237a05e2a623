// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The published examples of FIPS 180-4, and lengths around the end of a block.

#include "runtime/cache/Sha256.h"

#include "runtime/code/Bytes.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

std::string hexOf(const std::string &text) {
  Sha256 digest = sha256(text);
  return toHex(std::string(digest.begin(), digest.end()));
}

TEST(Sha256, published_examples) {
  EXPECT_EQ(hexOf(""), "e3b0c44298fc1c149afbf4c8996fb924"
                       "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexOf("abc"), "ba7816bf8f01cfea414140de5dae2223"
                          "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

// From another implementation.
TEST(Sha256, lengths_around_a_block) {
  EXPECT_EQ(hexOf(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9a"
                                         "e9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hexOf(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f"
                                         "590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hexOf(std::string(63, 'a')), "7d3e74a05d7db15bce4ad9ec0658ea98"
                                         "e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(hexOf(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209"
                                         "f439851db43d0ba5997337df154668eb");
}

} // namespace
