// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container around the header: magic, version, sizes, data. Sizes are
// checked against the file before anything of that size is allocated.

#include "runtime/Npy.h"

#include "runtime/Files.h"
#include "runtime/NpyHeader.h"

#include <algorithm>

namespace attn {

static constexpr std::string_view magic("\x93NUMPY", 6);
// NumPy pads to 64 bytes and writes a few hundred; a header of megabytes is
// an attack or a structured type.
static constexpr uint64_t maxHeaderBytes = 64 * 1024;

static Error failure(const std::string &path, const std::string &what,
                     ErrorCode code = ErrorCode::ioFailure) {
  return Error{code, "file '" + path + "': " + what};
}

static std::string describeStart(std::string_view bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char c : bytes)
    text +=
        std::string(text.empty() ? "" : " ") + digits[c >> 4] + digits[c & 15];
  return text.empty() ? "nothing" : text;
}

namespace {
/// Where the dictionary is in the file.
struct HeaderExtent {
  uint64_t begin;
  uint64_t size;
};
} // namespace

static Result<HeaderExtent> findHeader(const InputFile &file) {
  std::string start(std::min<uint64_t>(file.size(), 12), '\0');
  if (Result<void> done = file.read(0, start.data(), start.size()); !done)
    return done.error();
  if (start.compare(0, magic.size(), magic) != 0)
    return failure(file.path(), "expected the npy magic 93 4e 55 4d 50 59, "
                                "got " +
                                    describeStart(start.substr(0, 6)));
  auto byteAt = [&](size_t i) -> uint64_t {
    return i < start.size() ? static_cast<unsigned char>(start[i]) : 0;
  };
  uint64_t major = byteAt(6), minor = byteAt(7);
  if (start.size() < 8 || major < 1 || major > 3 || minor != 0)
    return failure(file.path(),
                   "expected npy version 1.0, 2.0 or 3.0, got " +
                       (start.size() < 8 ? "the end of the file"
                                         : std::to_string(major) + "." +
                                               std::to_string(minor)));
  HeaderExtent extent;
  extent.begin = major == 1 ? 10 : 12;
  extent.size = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    extent.size |= byteAt(10) << 16 | byteAt(11) << 24;
  if (extent.size > maxHeaderBytes)
    return failure(file.path(), "expected a header of at most " +
                                    std::to_string(maxHeaderBytes) +
                                    " bytes, got " +
                                    std::to_string(extent.size));
  if (file.size() < extent.begin || file.size() - extent.begin < extent.size)
    return failure(file.path(), "expected a header of " +
                                    std::to_string(extent.size) +
                                    " bytes, got a file of " +
                                    std::to_string(file.size()) + " bytes");
  return extent;
}

static void swapBytes(Tensor &tensor) {
  size_t bytes = byteSize(tensor.dtype());
  char *data = static_cast<char *>(tensor.raw());
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    std::reverse(data + i * bytes, data + (i + 1) * bytes);
}

/// `tensor` holds the elements of `sizes` with the first index running
/// fastest.
static Result<Tensor> toRowMajor(Tensor &tensor,
                                 const std::vector<int64_t> &sizes) {
  std::vector<int64_t> reversed(sizes.rbegin(), sizes.rend());
  std::vector<int64_t> strides = contiguousStrides(reversed);
  TensorView view{
      tensor.raw(), tensor.dtype(), sizes, {strides.rbegin(), strides.rend()}};
  return Tensor::copyOf(view);
}

Result<Tensor> readNpy(const std::string &path, std::optional<DType> expected) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  Result<HeaderExtent> extent = findHeader(*file);
  if (!extent)
    return extent.error();
  std::string text(extent->size, '\0');
  if (Result<void> done = file->read(extent->begin, text.data(), text.size());
      !done)
    return done.error();
  Result<NpyHeader> header = parseNpyHeader(text);
  if (!header)
    return failure(path, header.error().message, header.error().code);
  Result<NpyElement> element = parseNpyDescr(header->descr, expected);
  if (!element)
    return failure(path, element.error().message, element.error().code);
  if (expected && element->dtype != *expected)
    return failure(path,
                   std::string("expected elements of type ") + name(*expected) +
                       ", got " + name(element->dtype),
                   ErrorCode::invalidArgument);

  uint64_t offset = extent->begin + extent->size;
  uint64_t available = file->size() - offset;
  std::optional<int64_t> count = numElements(header->shape);
  int64_t needed = 0;
  int64_t bytes = byteSize(element->dtype);
  if (!count || __builtin_mul_overflow(*count, bytes, &needed))
    return failure(path, "expected sizes whose bytes fit into 63 bits, "
                         "got shape " +
                             formatSizes(header->shape));
  if (static_cast<uint64_t>(needed) != available)
    return failure(path, "expected " + std::to_string(needed) +
                             " bytes of data for " +
                             formatType(element->dtype, header->shape) +
                             ", got " + std::to_string(available));

  Result<Tensor> tensor = Tensor::empty(element->dtype, header->shape);
  if (!tensor)
    return failure(path, tensor.error().message, tensor.error().code);
  if (Result<void> done = file->read(offset, tensor->raw(), needed); !done)
    return done.error();
  if (element->isBigEndian)
    swapBytes(*tensor);
  if (element->dtype == DType::i1)
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      tensor->data<uint8_t>()[i] = tensor->data<uint8_t>()[i] != 0;
  if (header->isFortranOrder)
    return toRowMajor(*tensor, header->shape);
  return tensor;
}

Result<void> writeNpy(const std::string &path, const TensorView &view) {
  if (!isContiguous(view)) {
    Result<Tensor> packed = Tensor::copyOf(view);
    if (!packed)
      return packed.error();
    return writeNpy(path, packed->view());
  }
  std::optional<ByteRange> range = touchedBytes(view);
  if (!range)
    return Error{ErrorCode::invalidArgument,
                 "tensor of shape " + formatSizes(view.sizes) +
                     ": sizes and strides do not describe memory"};
  std::string header = formatNpyHeader(view.dtype, view.sizes);
  // The data starts on a 64-byte boundary, and the header ends in a newline.
  size_t start = 10 + header.size() + 1;
  header.append((64 - start % 64) % 64, ' ');
  header += '\n';
  if (header.size() > UINT16_MAX)
    return failure(path, "expected a shape that fits into an npy header, got " +
                             std::to_string(view.sizes.size()) + " dimensions");
  std::string prefix(magic);
  prefix += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
             static_cast<char>(header.size() >> 8)};
  std::string_view data(static_cast<const char *>(view.data), range->end);
  return writeFile(path, {prefix, header, data});
}

} // namespace attn
