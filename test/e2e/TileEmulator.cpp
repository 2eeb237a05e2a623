// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After Intel's Software Developer's Manual, volume 2. What the manual forbids
// (unconfigured or unfit tiles, a register used twice) ends the program, as the
// CPU would.

#include "test/e2e/TileEmulator.h"

#include "runtime/cpu/Tiles.h"

#if defined(__x86_64__) && defined(__linux__)

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

using namespace attn::test;

namespace {
constexpr int tileRegisters = 8;
constexpr int maxRows = 16;
constexpr int maxRowBytes = 64;

/// TILECFG, as ldtilecfg reads it.
struct Configuration {
  uint8_t palette, startRow, reserved[14];
  uint16_t rowBytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Configuration) == 64);

/// The tile registers of a thread.
struct State {
  Configuration configuration;
  alignas(64) unsigned char data[tileRegisters][maxRows][maxRowBytes];
};
thread_local State state;

std::atomic<int64_t> instructions, products, configurations;

/// A VEX instruction of map 0F38 with its operands.
struct Instruction {
  uint8_t opcode, prefix; ///< prefix 0: none, 1: 66, 2: F3, 3: F2
  uint8_t reg, rm, vvvv;  ///< register numbers
  bool hasMemory, hasSib;
  uint64_t address; ///< of the memory operand without its index
  int64_t stride;   ///< the scaled index
  uint64_t next;    ///< address of the instruction behind it
};

[[noreturn]] void refuse(const char *reason) {
  std::fprintf(stderr, "tile emulator: %s\n", reason);
  std::abort();
}

uint64_t registerValue(const ucontext_t &context, int number) {
  static constexpr int order[] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[order[number]]);
}

/// Whether the instruction at the context's address is one that may be of AMX.
bool decode(const ucontext_t &context, Instruction &result) {
  auto ip = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  const auto *bytes = reinterpret_cast<const uint8_t *>(ip);
  constexpr int threeByteVex = 0xc4, map0f38 = 2;
  if (bytes[0] != threeByteVex || (bytes[1] & 31) != map0f38 ||
      (bytes[2] & 0x84) != 0) // W and L are 0
    return false;
  int extendReg = bytes[1] & 0x80 ? 0 : 8,
      extendIndex = bytes[1] & 0x40 ? 0 : 8,
      extendBase = bytes[1] & 0x20 ? 0 : 8;
  result = {};
  result.vvvv = ~(bytes[2] >> 3) & 15;
  result.prefix = bytes[2] & 3;
  result.opcode = bytes[3];
  int mode = bytes[4] >> 6, rm = bytes[4] & 7;
  result.reg = uint8_t((bytes[4] >> 3 & 7) + extendReg);
  result.hasMemory = mode != 3;
  const uint8_t *end = bytes + 5;
  if (!result.hasMemory) {
    result.rm = uint8_t(rm + extendBase);
    result.next = reinterpret_cast<uint64_t>(end);
    return true;
  }
  int base = rm;
  result.hasSib = rm == 4;
  if (result.hasSib) {
    int scale = *end >> 6, index = (*end >> 3 & 7) + extendIndex;
    base = *end & 7;
    ++end;
    if (index != 4)
      result.stride = static_cast<int64_t>(registerValue(context, index))
                      << scale;
  }
  bool hasBase = base != 5 || mode != 0;
  if (hasBase)
    result.address = registerValue(context, base + extendBase);
  if (mode == 1) {
    result.address += static_cast<uint64_t>(static_cast<int8_t>(*end));
    end += 1;
  } else if (mode == 2 || !hasBase) {
    int32_t displacement;
    std::memcpy(&displacement, end, sizeof displacement);
    result.address += static_cast<uint64_t>(displacement);
    end += 4;
  }
  result.next = reinterpret_cast<uint64_t>(end);
  if (!hasBase && !result.hasSib)
    result.address += result.next; // relative to the instruction pointer
  return true;
}

int rowsOf(int tile) {
  if (state.configuration.palette != 1 || tile >= tileRegisters ||
      state.configuration.rows[tile] == 0 ||
      state.configuration.rowBytes[tile] == 0)
    refuse("a tile is not configured");
  return state.configuration.rows[tile];
}

void configure(const Instruction &in) {
  Configuration read;
  std::memcpy(&read, reinterpret_cast<const void *>(in.address), sizeof read);
  if (read.palette > 1 || read.startRow != 0)
    refuse("ldtilecfg: palette and start row");
  for (int tile = 0; tile < 16; ++tile) {
    bool isUsed = read.palette == 1 && tile < tileRegisters;
    if (read.rows[tile] > (isUsed ? maxRows : 0) ||
        read.rowBytes[tile] > (isUsed ? maxRowBytes : 0))
      refuse("ldtilecfg: a size");
  }
  state.configuration = read;
  std::memset(state.data, 0, sizeof state.data);
  ++configurations;
}

void load(const Instruction &in) {
  int rows = rowsOf(in.reg);
  size_t bytes = state.configuration.rowBytes[in.reg];
  std::memset(state.data[in.reg], 0, sizeof state.data[in.reg]);
  for (int row = 0; row < rows; ++row)
    std::memcpy(state.data[in.reg][row],
                reinterpret_cast<const void *>(
                    in.address + static_cast<uint64_t>(row * in.stride)),
                bytes);
}

void store(const Instruction &in) {
  int rows = rowsOf(in.reg);
  for (int row = 0; row < rows; ++row)
    std::memcpy(reinterpret_cast<void *>(
                    in.address + static_cast<uint64_t>(row * in.stride)),
                state.data[in.reg][row], state.configuration.rowBytes[in.reg]);
}

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// tdpbf16ps: even and odd products are summed apart, then added. Code for AMX
/// has AVX-512, too.
__attribute__((target("avx512f"))) void multiply(const Instruction &in) {
  int sums = in.reg, left = in.rm, right = in.vvvv;
  if (sums == left || sums == right || left == right)
    refuse("tdpbf16ps: a register is used twice");
  int rows = rowsOf(sums), depth = rowsOf(right);
  const uint16_t *rowBytes = state.configuration.rowBytes;
  if (rowsOf(left) != rows || rowBytes[left] != 4 * depth ||
      rowBytes[right] != rowBytes[sums] || rowBytes[sums] % 4 != 0)
    refuse("tdpbf16ps: tiles do not fit each other");
  int columns = rowBytes[sums] / 4;
  // Subnormal operands and results are 0, whatever the program has set; the
  // return from the handler restores that.
  constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x40;
  _mm_setcsr(_mm_getcsr() | flushToZero | denormalsAreZero);
  for (int row = 0; row < rows; ++row) {
    float even[maxRows] = {}, odd[maxRows] = {}, sum[maxRows];
    for (int k = 0; k < depth; ++k) {
      uint32_t pair, others[maxRows];
      std::memcpy(&pair, state.data[left][row] + 4 * k, sizeof pair);
      std::memcpy(others, state.data[right][k], sizeof others);
      float first = fromBits(pair << 16), second = fromBits(pair & 0xffff0000u);
      for (int column = 0; column < columns; ++column) {
        even[column] += first * fromBits(others[column] << 16);
        odd[column] += second * fromBits(others[column] & 0xffff0000u);
      }
    }
    std::memcpy(sum, state.data[sums][row], sizeof sum);
    for (int column = 0; column < columns; ++column)
      sum[column] += even[column] + odd[column];
    std::memcpy(state.data[sums][row], sum, sizeof sum);
  }
  ++products;
}

/// Whether the instruction is one of AMX; does it then.
bool execute(const Instruction &in) {
  enum { none, prefix66, prefixF3, prefixF2 };
  bool isConfiguration = in.opcode == 0x49, isMove = in.opcode == 0x4b;
  if (isConfiguration && in.prefix == none && in.hasMemory && in.reg == 0)
    configure(in);
  else if (isConfiguration && in.prefix == none && !in.hasMemory &&
           in.reg == 0 && in.rm == 0)
    state.configuration = {}; // tilerelease
  else if (isConfiguration && in.prefix == prefixF2 && !in.hasMemory)
    std::memset(state.data[in.reg], 0,
                rowsOf(in.reg) ? maxRows * maxRowBytes : 0);
  else if (isMove && in.hasSib &&
           (in.prefix == prefixF2 || in.prefix == prefix66))
    load(in);
  else if (isMove && in.hasSib && in.prefix == prefixF3)
    store(in);
  else if (in.opcode == 0x5c && in.prefix == prefixF3 && !in.hasMemory)
    multiply(in);
  else
    return false;
  ++instructions;
  return true;
}

void handle(int, siginfo_t *, void *raw) {
  auto *context = static_cast<ucontext_t *>(raw);
  // A signal costs more than an instruction: does all that stand together.
  bool isOurs = false;
  Instruction instruction;
  while (decode(*context, instruction) && execute(instruction)) {
    context->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(instruction.next);
    isOurs = true;
  }
  if (isOurs)
    return;
  // Not ours: on return it is raised again, and ends the program.
  std::signal(SIGILL, SIG_DFL);
}
} // namespace

void attn::test::installTileEmulator() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

TileCounts attn::test::tileCounts() {
  return {instructions, products, configurations};
}

#else

void attn::test::installTileEmulator() {}

attn::test::TileCounts attn::test::tileCounts() { return {}; }

#endif

bool attn::test::emulateMissingTiles() {
  if (whyNoTiles().empty())
    return false;
  installTileEmulator();
  assumeTiles();
  return true;
}
