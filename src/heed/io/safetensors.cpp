#include "heed/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/parallel.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/checked_size.h"
#include "heed/io/file_reader.h"
#include "heed/io/files.h"
#include "heed/io/mapped_file.h"
#include "heed/io/strict_json.h"
#include "heed/io/xxh3.h"

namespace heed::io {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::size_t length_bytes = 8;            // the header's length, at the very beginning
constexpr std::uint64_t max_header = 100'000'000;  // the format's own limit, reading and writing
constexpr int max_depth = 3;                       // header > entry > shape
constexpr std::size_t max_tensors = 1 << 20;       // of far larger models than anybody trains here
constexpr std::string_view metadata_key = "__metadata__";
const std::string checksum_key = "heed.xxh3";  // of the metadata

template <typename... Parts>
void check_model(bool ok, const Parts&... parts) {
  check_as(ErrorKind::model, ok, parts...);
}

// JSON as part of a message.
std::string to_text(const json& value) {
  return excerpt(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// From the first bytes of a file: how long its header is.
std::uint64_t header_length(std::string_view bytes, std::uint64_t file_size,
                            const std::string& source) {
  check_model(bytes.size() >= length_bytes, source, ": expected at least ", length_bytes,
              " bytes of header length, found ", bytes.size());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  check_model(length <= max_header, source, ": expected a header of at most ", max_header,
              " bytes, found ", length);
  check_model(length + length_bytes <= file_size, source,
              ": expected a header that ends inside the file of ", file_size,
              " bytes, found one that ends at ", length + length_bytes);
  return length;
}

json parse_json(std::string_view header, const std::string& source) {
  check_model(is_valid_utf8(header), source, ": expected a header in UTF-8, found other bytes");
  check_model(header.starts_with('{'), source, ": expected a header that starts with {, found ",
              header.empty() ? "nothing" : to_text(std::string(1, header.front())));
  // The format pads with spaces; JSON would also allow tabs and line ends here.
  const std::size_t last = header.find_last_not_of(' ');
  check_model(header[last] == '}', source,
              ": expected a header that ends with } and spaces, found ",
              to_text(std::string(1, header[last])));
  return parse_strict_json(header, source + ": header", max_depth);
}

Metadata read_metadata(const json& entry, const std::string& source) {
  check_model(entry.is_object(), source, ": __metadata__: expected an object, found ",
              to_text(entry));
  Metadata metadata;
  for (const auto& [key, value] : entry.items()) {
    check_model(value.is_string(), source, ": __metadata__: ", excerpt(key),
                ": expected a string, found ", to_text(value));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// One tensor of the header, named in messages as "file: tensor".
class EntryReader {
 public:
  EntryReader(const json& entry, const std::string& context) : entry_(entry), context_(context) {
    check_model(entry.is_object(), context, ": expected an object, found ", to_text(entry));
  }

  DType dtype() const {
    const json& value = field("dtype");
    std::optional<DType> dtype;
    if (value.is_string()) dtype = find_dtype(value.get_ref<const std::string&>());
    check_model(dtype.has_value(), context_,
                ": dtype: expected F32, F16, BF16, F64, BOOL or an integer type, found ",
                to_text(value));
    return *dtype;
  }

  std::vector<std::int64_t> shape() const {
    const json& axes = field("shape");
    check_model(axes.is_array(), context_, ": shape: expected a list, found ", to_text(axes));
    std::vector<std::int64_t> shape;
    for (const json& axis : axes) shape.push_back(size(axis, "shape").as<std::int64_t>());
    return shape;
  }

  std::pair<std::uint64_t, std::uint64_t> offsets() const {
    const json& ends = field("data_offsets");
    check_model(ends.is_array() && ends.size() == 2, context_,
                ": data_offsets: expected a begin and an end, found ", to_text(ends));
    return {size(ends[0], "data_offsets").value(), size(ends[1], "data_offsets").value()};
  }

 private:
  const json& field(const char* name) const {
    const auto value = entry_.find(name);
    check_model(value != entry_.end(), context_, ": ", name, ": expected it, found ",
                to_text(entry_));
    return *value;
  }

  CheckedSize size(const json& value, const char* what) const {
    check_model(value.is_number_unsigned(), context_, ": ", what,
                ": expected integers of at least 0, found ", to_text(value));
    return {value.get<std::uint64_t>(), context_};
  }

  const json& entry_;
  const std::string& context_;
};

std::uint64_t needed_bytes(DType dtype, const std::vector<std::int64_t>& shape,
                           std::string_view context) {
  CheckedSize size(dtype_bytes(dtype), context);
  for (const std::int64_t axis : shape) size = size * static_cast<std::uint64_t>(axis);
  return size.value();
}

// A tensor whose data begin at this byte of the data section.
struct PlacedTensor {
  TensorRecord record;  // without its bytes
  std::uint64_t begin = 0, end = 0;
};

PlacedTensor read_entry(const std::string& name, const json& entry, std::uint64_t data_size,
                        const std::string& source) {
  const std::string context = source + ": " + excerpt(name);
  check_model(!has_control_characters(name), context,
              ": expected a name without control characters");
  const EntryReader reader(entry, context);
  const auto [begin, end] = reader.offsets();
  check_model(begin <= end, context, ": data_offsets: expected begin <= end, found ", begin,
              " and ", end);
  check_model(end <= data_size, context, ": data_offsets: expected an end within the ", data_size,
              " bytes of data, found ", end);
  TensorRecord record{.name = name, .dtype = reader.dtype(), .shape = reader.shape(), .bytes = {}};
  const std::uint64_t needed = needed_bytes(record.dtype, record.shape, context);
  check_model(end - begin == needed, context, ": expected ", needed, " bytes for its shape, found ",
              end - begin);
  return {std::move(record), begin, end};
}

// Laid end to end, the tensors cover the data: no hole, no overlap, nothing after the last.
void check_layout(const std::vector<PlacedTensor>& tensors, std::uint64_t data_size,
                  const std::string& source) {
  std::vector<const PlacedTensor*> by_place(tensors.size());
  std::ranges::transform(tensors, by_place.begin(), [](const auto& tensor) { return &tensor; });
  // An empty tensor comes before the one that starts at the same offset.
  std::ranges::sort(by_place, {}, [](const PlacedTensor* tensor) {
    return std::pair(tensor->begin, tensor->end);
  });
  std::uint64_t position = 0;
  for (const PlacedTensor* tensor : by_place) {
    check_model(tensor->begin == position, source, ": ", excerpt(tensor->record.name),
                ": data_offsets: expected to begin where the tensor before ends, at ", position,
                ", found ", tensor->begin);
    position = tensor->end;
  }
  check_model(position == data_size, source, ": expected ", position,
              " bytes of data as the header says, found ", data_size);
}

struct Header {
  std::vector<PlacedTensor> tensors;  // sorted by name
  Metadata metadata;
};

Header parse_header(std::string_view text, std::uint64_t data_size, const std::string& source) {
  const json entries = parse_json(text, source);
  check_model(entries.size() <= max_tensors, source, ": expected at most ", max_tensors,
              " tensors, found ", entries.size());
  Header header;
  for (const auto& [name, entry] : entries.items()) {
    if (name == metadata_key) {
      header.metadata = read_metadata(entry, source);
    } else {
      header.tensors.push_back(read_entry(name, entry, data_size, source));
    }
  }
  check_layout(header.tensors, data_size, source);
  std::ranges::sort(
      header.tensors, {}, [](const PlacedTensor& t) -> auto& { return t.record.name; });
  return header;
}

Header read_header(FileReader& file, const std::string& path) {
  const std::string first = file.read(std::min<std::uint64_t>(file.size(), length_bytes));
  const std::uint64_t length = header_length(first, file.size(), path);
  return parse_header(file.read(length), file.size() - length_bytes - length, path);
}

// So that a large tensor of a mapped file is never in memory as a whole.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

template <typename Work>
void for_each_chunk(std::span<const std::byte> bytes, Work&& work) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes) {
    work(bytes.subspan(begin, std::min(chunk_bytes, bytes.size() - begin)));
  }
}

void update_sized(Xxh3& hash, std::string_view text) {
  hash.update(text.size());
  hash.update(text);
}

// XXH3-128 over the metadata and the tensors in the order of their names, wherever the data of each
// stand. docs/file_formats.md describes the bytes.
// `release` hears of all bytes that have been read.
template <typename Release>
std::string checksum(const Metadata& metadata, std::span<const TensorRecord* const> by_name,
                     Release&& release) {
  Xxh3 hash;
  hash.update(metadata.size());
  for (const auto& [key, value] : metadata) {
    update_sized(hash, key);
    update_sized(hash, value);
  }
  hash.update(by_name.size());
  for (const TensorRecord* record : by_name) {
    update_sized(hash, record->name);
    update_sized(hash, dtype_name(record->dtype));
    hash.update(record->shape.size());
    for (const std::int64_t axis : record->shape) hash.update(static_cast<std::uint64_t>(axis));
    for_each_chunk(record->bytes, [&](std::span<const std::byte> chunk) {
      hash.update(chunk);
      release(chunk);
    });
  }
  return hash.hex_digest();
}

template <typename Stored, typename Number, typename Convert>
void convert_all(std::span<const std::byte> bytes, Number* values, Convert convert) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));  // may be unaligned
    values[i] = static_cast<Number>(convert(stored));  // NOLINT(bugprone-signed-char-misuse): int8
  }
}

constexpr auto as_it_is = [](auto value) { return value; };

}  // namespace

TensorRecord float_record(std::string name, std::vector<std::int64_t> shape,
                          std::span<const float> values) {
  return {std::move(name), DType::f32, std::move(shape), std::as_bytes(values)};
}

// Bytes that were read, or that are mapped.
struct SafetensorsFile::Contents {
  std::string read;
  std::optional<MappedFile> mapped;

  std::span<const std::byte> bytes() const {
    return mapped ? mapped->bytes() : std::as_bytes(std::span(read));
  }
};

// Tensors point into `contents`, whose data section begins at `data_begin`.
class SafetensorsFile::Builder {
 public:
  static SafetensorsFile build(Header header, Contents contents, std::size_t data_begin,
                               std::string source) {
    SafetensorsFile file;
    file.source_ = std::move(source);
    file.contents_ = std::make_shared<const Contents>(std::move(contents));
    file.metadata_ = std::move(header.metadata);
    const std::span<const std::byte> data = file.contents_->bytes().subspan(data_begin);
    for (PlacedTensor& tensor : header.tensors) {
      tensor.record.bytes = data.subspan(tensor.begin, tensor.end - tensor.begin);
      file.tensors_.push_back(std::move(tensor.record));
    }
    check_checksum(file);
    return file;
  }

 private:
  static void check_checksum(SafetensorsFile& file) {
    const auto stored = file.metadata_.extract(checksum_key);
    if (stored.empty()) return;
    std::vector<const TensorRecord*> by_name;
    for (const TensorRecord& record : file.tensors_) by_name.push_back(&record);
    const std::string computed =
        checksum(file.metadata_, by_name, [&](const auto& bytes) { file.release(bytes); });
    check_model(stored.mapped() == computed, file.source_, ": expected contents of the checksum ",
                excerpt(stored.mapped()), ", found ", computed, ": the file is damaged");
    file.has_checksum_ = true;
  }
};

SafetensorsFile SafetensorsFile::load(const std::string& path, std::uint64_t max_data_bytes) {
  FileReader file(path, ErrorKind::model);
  Header header = read_header(file, path);
  std::uint64_t size = 0;
  for (const PlacedTensor& tensor : header.tensors) size += tensor.end - tensor.begin;
  check_model(size <= max_data_bytes, path, ": expected at most ", max_data_bytes,
              " bytes of data, found ", size);
  Contents contents{.read = {}, .mapped = file.map(size)};
  if (!contents.mapped) contents.read = file.read(size);
  return Builder::build(std::move(header), std::move(contents), 0, path);
}

SafetensorsFile SafetensorsFile::parse(std::string bytes, std::string source) {
  const std::uint64_t length = header_length(bytes, bytes.size(), source);
  const std::size_t data_begin = length_bytes + length;
  Header header = parse_header(std::string_view(bytes).substr(length_bytes, length),
                               bytes.size() - data_begin, source);
  return Builder::build(std::move(header), {.read = std::move(bytes), .mapped = {}}, data_begin,
                        std::move(source));
}

bool has_checksum(const std::string& path) {
  FileReader file(path, ErrorKind::model);
  return read_header(file, path).metadata.contains(checksum_key);
}

std::vector<std::string> tensor_names(const std::string& path) {
  FileReader file(path, ErrorKind::model);
  std::vector<std::string> names;
  const Header header = read_header(file, path);
  for (const PlacedTensor& tensor : header.tensors) names.push_back(tensor.record.name);
  return names;
}

namespace {

// The bytes of one tensor, from front to back.
class TensorBytes {
 public:
  explicit TensorBytes(const StoredTensor& tensor) : file_(tensor.path, ErrorKind::model) {
    const Header header = read_header(file_, tensor.path);
    const auto placed = std::ranges::find(header.tensors, tensor.name,
                                          [](const PlacedTensor& t) { return t.record.name; });
    check_model(placed != header.tensors.end(), tensor.path, ": expected a tensor named ",
                excerpt(tensor.name), ", found none");
    record_ = placed->record;
    left_ = placed->end - placed->begin;
    file_.skip(placed->begin);
  }

  const TensorRecord& record() const { return record_; }  // without its bytes
  std::string read_some() {                               // empty: the end
    constexpr std::uint64_t piece = 1 << 16;
    const std::uint64_t count = std::min(left_, piece);
    left_ -= count;
    return file_.read(count);
  }

 private:
  FileReader file_;
  TensorRecord record_;
  std::uint64_t left_ = 0;
};

}  // namespace

bool have_same_bytes(const StoredTensor& a, const StoredTensor& b) {
  TensorBytes of_a(a), of_b(b);
  if (of_a.record().dtype != of_b.record().dtype || of_a.record().shape != of_b.record().shape) {
    return false;
  }
  for (;;) {
    const std::string some = of_a.read_some();
    if (some != of_b.read_some()) return false;
    if (some.empty()) return true;
  }
}

std::optional<TensorRecord> SafetensorsFile::find(std::string_view name) const {
  const auto record = std::ranges::lower_bound(
      tensors_, name, {}, [](const TensorRecord& r) { return std::string_view(r.name); });
  if (record == tensors_.end() || record->name != name) return std::nullopt;
  return *record;
}

TensorRecord SafetensorsFile::require(std::string_view name) const {
  std::optional<TensorRecord> record = find(name);
  check_model(record.has_value(), source_, ": expected a tensor named ", excerpt(name),
              ", found none");
  return *std::move(record);
}

void SafetensorsFile::release(std::span<const std::byte> bytes) const {
  if (!contents_->mapped) return;
  contents_->mapped->release(bytes);
  try {
    check_model(contents_->mapped->is_intact(), source_,
                ": expected a file that does not change, found it shorter while it was read");
  } catch (const std::system_error& error) {
    fail(ErrorKind::model, source_, ": cannot be read: ", error.code().message());
  }
}

namespace {

void check_count(const TensorRecord& record, std::size_t count, const std::string& source) {
  const std::size_t found = record.bytes.size() / dtype_bytes(record.dtype);
  check_model(count == found, source, ": ", excerpt(record.name), ": expected ", count,
              " numbers, found ", found);
}

void convert_floats(DType dtype, std::span<const std::byte> bytes, float* values) {
  switch (dtype) {
    case DType::f32:
      std::memcpy(values, bytes.data(), bytes.size());
      return;
    case DType::f64:
      return convert_all<double>(bytes, values, as_it_is);
    case DType::f16:
      return convert_all<std::uint16_t>(bytes, values, float16_to_float);
    default:
      return convert_all<std::uint16_t>(bytes, values, bfloat16_to_float);
  }
}

// `release` hears of all bytes that have been read.
template <typename Release>
void copy_in_chunks(const TensorRecord& record, std::span<float> values, const std::string& source,
                    Release&& release) {
  check_count(record, values.size(), source);
  check_model(is_floating_point(record.dtype), source, ": ", excerpt(record.name),
              ": expected floating-point numbers, found ", dtype_name(record.dtype));
  const auto item = static_cast<Index>(dtype_bytes(record.dtype));
  parallel_ranges(std::ssize(values), chunk_bytes / item, [&](Index begin, Index end) {
    const auto bytes = record.bytes.subspan(begin * item, (end - begin) * item);
    convert_floats(record.dtype, bytes, values.data() + begin);
    release(bytes);
  });
}

}  // namespace

void copy_floats(const TensorRecord& record, std::span<float> values, const std::string& source) {
  copy_in_chunks(record, values, source, [](const auto&) {});
}

void SafetensorsFile::copy_floats(const TensorRecord& record, std::span<float> values) const {
  copy_in_chunks(record, values, source_, [this](const auto& bytes) { release(bytes); });
}

std::vector<float> SafetensorsFile::to_floats(const TensorRecord& record) const {
  std::vector<float> values(record.bytes.size() / dtype_bytes(record.dtype));
  copy_floats(record, values);
  return values;
}

std::vector<std::int64_t> SafetensorsFile::to_integers(const TensorRecord& record) const {
  std::vector<std::int64_t> values(record.bytes.size() / dtype_bytes(record.dtype));
  const std::string context = source_ + ": " + excerpt(record.name);
  const auto checked = [&](std::uint64_t v) { return CheckedSize(v, context).as<std::int64_t>(); };
  switch (record.dtype) {
    case DType::i64:
      convert_all<std::int64_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::u64:
      convert_all<std::uint64_t>(record.bytes, values.data(), checked);
      break;
    case DType::i32:
      convert_all<std::int32_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::u32:
      convert_all<std::uint32_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::i16:
      convert_all<std::int16_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::u16:
      convert_all<std::uint16_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::i8:
      convert_all<std::int8_t>(record.bytes, values.data(), as_it_is);
      break;
    case DType::u8:
    case DType::boolean:
      convert_all<std::uint8_t>(record.bytes, values.data(), as_it_is);
      break;
    default:
      fail(ErrorKind::model, context, ": expected integers, found ", dtype_name(record.dtype));
  }
  release(record.bytes);
  return values;
}

namespace {

std::string json_string(const std::string& text, const std::string& path) {
  check(is_valid_utf8(text), path, ": expected names in UTF-8, found other bytes");
  return json(text).dump();
}

void check_writable(const TensorRecord& record, const std::string& path) {
  check(record.name != metadata_key, path, ": expected another name than __metadata__");
  const std::string context = path + ": " + excerpt(record.name);
  check(is_valid_utf8(record.name), path, ": expected names in UTF-8, found other bytes");
  check(!has_control_characters(record.name), context,
        ": expected a name without control characters");
  for (const std::int64_t axis : record.shape) {
    check(axis >= 0, context, ": shape: expected sizes of at least 0, found ", axis);
  }
  const std::uint64_t needed = needed_bytes(record.dtype, record.shape, context);
  check(needed == record.bytes.size(), context, ": expected ", needed,
        " bytes for its shape, found ", record.bytes.size());
}

std::string entry_text(const TensorRecord& record, std::size_t begin) {
  const json entry{{"dtype", dtype_name(record.dtype)},
                   {"shape", record.shape},
                   {"data_offsets", {begin, begin + record.bytes.size()}}};
  return entry.dump();
}

// The tensors in the order of their data, padded so that the data begin at a multiple of 8.
std::string header_text(const std::vector<const TensorRecord*>& tensors, const Metadata& metadata,
                        const std::string& path) {
  std::string text = "{";
  const auto add = [&](const std::string& key, const std::string& value) {
    if (text.size() > 1) text += ',';
    text += json_string(key, path) + ':' + value;
  };
  std::string pairs;
  for (const auto& [key, value] : metadata) {
    if (!pairs.empty()) pairs += ',';
    pairs += json_string(key, path) + ':' + json_string(value, path);
  }
  add(std::string(metadata_key), '{' + pairs + '}');
  std::size_t begin = 0;
  for (const TensorRecord* record : tensors) {
    add(record->name, entry_text(*record, begin));
    begin += record->bytes.size();
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  check(text.size() <= max_header, path, ": expected a header of at most ", max_header,
        " bytes, found ", text.size());
  return text;
}

std::vector<const TensorRecord*> in_order_of_names(std::span<const TensorRecord> tensors,
                                                   const std::string& path) {
  std::vector<const TensorRecord*> order;
  for (const TensorRecord& record : tensors) {
    check_writable(record, path);
    order.push_back(&record);
  }
  std::ranges::sort(order, {}, &TensorRecord::name);
  for (std::size_t i = 1; i < order.size(); ++i) {
    check(order[i - 1]->name != order[i]->name, path, ": expected each name once, found ",
          excerpt(order[i]->name), " twice");
  }
  return order;
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorRecord> tensors,
                       Metadata metadata) {
  std::vector<const TensorRecord*> order = in_order_of_names(tensors, path);
  metadata.erase(checksum_key);
  metadata[checksum_key] = checksum(metadata, order, [](const auto&) {});
  std::ranges::stable_sort(order, std::greater<>(),
                           [](const TensorRecord* record) { return dtype_bytes(record->dtype); });
  const std::string header = header_text(order, metadata, path);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorRecord* record : order) file.write(record->bytes);
  file.commit();
}

}  // namespace heed::io
