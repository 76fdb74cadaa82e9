#include "heed/io/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "heed/base/index.h"
#include "heed/io/files.h"
#include "heed/io/xxh3.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

// A file by hand: the length, the header, so many bytes of data.
std::string file_bytes(const std::string& header, std::size_t num_data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += header;
  for (std::size_t i = 0; i < num_data; ++i) bytes += static_cast<char>(i);
  return bytes;
}

SafetensorsFile parse(const std::string& header, std::size_t num_data) {
  return SafetensorsFile::parse(file_bytes(header, num_data), "m.st");
}

void expect_refused(const std::string& message, const std::string& bytes) {
  expect_error(ErrorKind::model, "m.st: " + message,
               [&] { SafetensorsFile::parse(bytes, "m.st"); });
}

void expect_refused(const std::string& message, const std::string& header, std::size_t num_data) {
  expect_refused(message, file_bytes(header, num_data));
}

std::string length_only(std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

// One entry with everything right but what the test changes.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST(Safetensors, WrittenTensorsAndMetadataComeBack) {
  const TemporaryFolder folder;
  const std::vector<float> matrix{1.5f,   -0.0f, std::numeric_limits<float>::infinity(),
                                  1e-42f, 5,     6};
  const std::vector<float> scalar{7};
  const std::vector<std::int64_t> steps{-1, std::numeric_limits<std::int64_t>::max()};
  const std::vector<TensorRecord> tensors{
      float_record("b.weight", {2, 3}, matrix),
      float_record("a \"quoted\" ü", {}, scalar),
      float_record("empty", {0, 4}, {}),
      {"steps", DType::i64, {2}, std::as_bytes(std::span(steps))}};
  write_safetensors(folder.file("m"), tensors, {{"format", "heed"}, {"a", "ü\n"}});

  const SafetensorsFile file = SafetensorsFile::load(folder.file("m"));
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "heed"}, {"a", "ü\n"}}));
  const TensorRecord weight = file.require("b.weight");
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(weight.dtype, DType::f32);
  EXPECT_EQ(std::memcmp(file.to_floats(weight).data(), matrix.data(), 24), 0);
  EXPECT_EQ(file.require("a \"quoted\" ü").shape.size(), 0u);
  EXPECT_EQ(file.to_floats(file.require("a \"quoted\" ü")), scalar);
  EXPECT_EQ(file.to_floats(file.require("empty")).size(), 0u);
  EXPECT_EQ(file.to_integers(file.require("steps")), steps);
}

TEST(Safetensors, AFileWithoutTensorsComesBack) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("m"), {});
  EXPECT_TRUE(SafetensorsFile::load(folder.file("m")).tensors().empty());
}

TEST(Safetensors, TheSameTensorsInAnyOrderMakeTheSameAlignedFile) {
  const TemporaryFolder folder;
  const std::vector<float> one{1}, two{2, 3};
  const std::vector<std::int64_t> count{9};
  const std::vector<std::byte> blob(3);
  std::vector<TensorRecord> tensors{float_record("a", {1}, one),
                                    float_record("b", {2}, two),
                                    {"z", DType::i64, {1}, std::as_bytes(std::span(count))},
                                    {"blob", DType::u8, {3}, blob}};
  write_safetensors(folder.file("x"), tensors);
  std::ranges::reverse(tensors);
  write_safetensors(folder.file("y"), tensors);
  const std::string bytes = read_file(folder.file("x"));
  EXPECT_EQ(bytes, read_file(folder.file("y")));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  std::string header = bytes.substr(8, length);
  const std::string checksum_begin = R"({"__metadata__":{"heed.xxh3":")";
  ASSERT_TRUE(header.starts_with(checksum_begin)) << header;
  header.erase(checksum_begin.size(), 32);
  EXPECT_EQ(header.substr(0, header.find_last_not_of(' ') + 1),
            checksum_begin + R"("},"z":{"data_offsets":[0,8],"dtype":"I64","shape":[1]},)"
                             R"("a":{"data_offsets":[8,12],"dtype":"F32","shape":[1]},)"
                             R"("b":{"data_offsets":[12,20],"dtype":"F32","shape":[2]},)"
                             R"("blob":{"data_offsets":[20,23],"dtype":"U8","shape":[3]}})");
}

TEST(Safetensors, ReadsAFileMadeByHand) {
  // Tensors in any order, unaligned data, trailing spaces, fields that we do not know.
  const SafetensorsFile file =
      parse(R"({"b":{"dtype":"F16","shape":[2],"data_offsets":[1,5],"more":1},)"
            R"("__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   )",
            5);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.to_integers(file.require("a")), std::vector<std::int64_t>{0});
  EXPECT_EQ(file.metadata().at("k"), "v");
  EXPECT_EQ(file.require("b").bytes.size(), 4u);
  EXPECT_FALSE(file.find("c").has_value());
  expect_error(ErrorKind::model, "m.st: expected a tensor named c, found none",
               [&] { file.require("c"); });
}

// A small file of every kind of content, as Heed writes it.
std::string written_bytes() {
  const TemporaryFolder folder;
  const std::vector<float> weight{1.5f, -2, 3, 0};
  const std::vector<std::byte> blob(3);
  write_safetensors(folder.file("m"),
                    std::vector<TensorRecord>{float_record("weight", {2, 2}, weight),
                                              {"blob", DType::u8, {3}, blob}},
                    {{"format", "pt"}});
  return read_file(folder.file("m"));
}

// Files of every version are read as long as these bytes stay the same.
TEST(Safetensors, NamesAreReadWithoutTheData) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  write_safetensors(folder.file("a"), std::vector{float_record("two", {2}, values),
                                                  float_record("one", {2, 1}, values)});
  EXPECT_EQ(tensor_names(folder.file("a")), (std::vector<std::string>{"one", "two"}));
}

TEST(Safetensors, TensorsAreTheSameIfTypeShapeAndBytesAre) {
  const TemporaryFolder folder;
  std::vector<float> values(100'000, 1), others = values;
  others.back() = 2;
  const Index count = std::ssize(values);
  const std::string path = folder.file("a");
  write_safetensors(
      path, std::vector{float_record("x", {count}, values), float_record("same", {count}, values),
                        float_record("matrix", {count, 1}, values),
                        float_record("others", {count}, others)});
  EXPECT_TRUE(have_same_bytes({path, "x"}, {path, "same"}));
  EXPECT_FALSE(have_same_bytes({path, "x"}, {path, "matrix"}));
  EXPECT_FALSE(have_same_bytes({path, "x"}, {path, "others"}));
  expect_error(ErrorKind::model, path + ": expected a tensor named y, found none", [&] {
    have_same_bytes({path, "x"}, {path, "y"});
  });
}

TEST(SafetensorsChecksum, IsMadeOfTheBytesOfTheDocument) {
  const auto number = [](std::uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto text = [&](const std::string& bytes) { return number(bytes.size()) + bytes; };
  const float values[] = {1.5f, -2, 3, 0};
  const std::string weight(reinterpret_cast<const char*>(values), sizeof values);
  Xxh3 hash;
  hash.update(number(1) + text("format") + text("pt"));
  hash.update(number(2));
  hash.update(text("blob") + text("U8") + number(1) + number(3) + std::string(3, '\0'));
  hash.update(text("weight") + text("F32") + number(2) + number(2) + number(2) + weight);
  EXPECT_NE(written_bytes().find("\"heed.xxh3\":\"" + hash.hex_digest() + '"'), std::string::npos)
      << written_bytes();
}

TEST(SafetensorsChecksum, EveryFlippedBitIsFound) {
  const std::string bytes = written_bytes();
  EXPECT_TRUE(SafetensorsFile::parse(bytes, "m.st").has_checksum());
  const std::size_t key = bytes.find("heed.xxh3");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      if (i >= key && i < key + 9) continue;  // a file whose checksum has another name has none
      EXPECT_THROW(SafetensorsFile::parse(damaged, "m.st"), Error) << i << " " << bit;
    }
  }
}

TEST(SafetensorsChecksum, AMessageSaysWhatWasExpectedAndFound) {
  std::string bytes = written_bytes();
  bytes.back() ^= 1;
  try {
    SafetensorsFile::parse(bytes, "m.st");
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    const std::string stored = bytes.substr(bytes.find("heed.xxh3") + 12, 32);
    const std::string message = error.what(),
                      begin = "m.st: expected contents of the checksum " + stored + ", found ";
    EXPECT_TRUE(message.starts_with(begin)) << message;
    EXPECT_EQ(message.substr(begin.size() + 32), ": the file is damaged");
  }
}

TEST(SafetensorsChecksum, AFileWithoutOneIsRead) {
  const auto file = parse(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
  EXPECT_FALSE(file.has_checksum());
  EXPECT_EQ(file.tensors().size(), 1u);
}

TEST(SafetensorsChecksum, IsNoPartOfTheMetadataAndMadeAnewWhenTheFileIsWrittenAgain) {
  const TemporaryFolder folder;
  const auto first = SafetensorsFile::parse(written_bytes(), "m.st");
  EXPECT_EQ(first.metadata(), (Metadata{{"format", "pt"}}));
  Metadata other = first.metadata();
  other["heed.xxh3"] = "of another file";
  write_safetensors(folder.file("again"), first.tensors(), other);
  EXPECT_EQ(read_file(folder.file("again")), written_bytes());
  EXPECT_TRUE(has_checksum(folder.file("again")));
}

TEST(Safetensors, RecordsStayValidWhenTheFileMoves) {
  SafetensorsFile file = parse(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2);
  const SafetensorsFile moved = std::move(file);
  EXPECT_EQ(moved.to_integers(moved.require("a")), (std::vector<std::int64_t>{0, 1}));
}

template <typename T>
TensorRecord record_of(DType dtype, const std::vector<T>& values) {
  return {"w", dtype, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))};
}

TEST(Safetensors, AllFloatingPointTypesBecomeFloats) {
  const SafetensorsFile file = parse("{}", 0);
  const std::vector<float> expected{1.5f, -2.0f};
  EXPECT_EQ(file.to_floats(record_of(DType::f16, std::vector<std::uint16_t>{0x3e00, 0xc000})),
            expected);
  EXPECT_EQ(file.to_floats(record_of(DType::bf16, std::vector<std::uint16_t>{0x3fc0, 0xc000})),
            expected);
  EXPECT_EQ(file.to_floats(record_of(DType::f64, std::vector<double>{1.5, -2.0})), expected);
  expect_error(ErrorKind::model, "m.st: w: expected floating-point numbers, found I32",
               [&] { file.to_floats(record_of(DType::i32, std::vector<std::int32_t>{1})); });
  std::vector<float> three(3);
  expect_error(ErrorKind::model, "m.st: w: expected 3 numbers, found 2", [&] {
    file.copy_floats(record_of(DType::f64, std::vector<double>{1.5, -2.0}), three);
  });
}

TEST(Safetensors, AllIntegerTypesBecomeIntegers) {
  const SafetensorsFile file = parse("{}", 0);
  const std::vector<std::int64_t> negative{-2}, positive{2};
  EXPECT_EQ(file.to_integers(record_of(DType::i8, std::vector<std::int8_t>{-2})), negative);
  EXPECT_EQ(file.to_integers(record_of(DType::i16, std::vector<std::int16_t>{-2})), negative);
  EXPECT_EQ(file.to_integers(record_of(DType::i32, std::vector<std::int32_t>{-2})), negative);
  EXPECT_EQ(file.to_integers(record_of(DType::u8, std::vector<std::uint8_t>{2})), positive);
  EXPECT_EQ(file.to_integers(record_of(DType::u16, std::vector<std::uint16_t>{2})), positive);
  EXPECT_EQ(file.to_integers(record_of(DType::u32, std::vector<std::uint32_t>{2})), positive);
  EXPECT_EQ(file.to_integers(record_of(DType::u64, std::vector<std::uint64_t>{2})), positive);
  EXPECT_THROW(file.to_integers(record_of(DType::u64, std::vector<std::uint64_t>{~0ull})), Error);
  expect_error(ErrorKind::model, "m.st: w: expected integers, found F32",
               [&] { file.to_integers(record_of(DType::f32, std::vector<float>{1})); });
}

TEST(SafetensorsRules, TheHeaderLengthIsThereAndFits) {
  expect_refused("expected at least 8 bytes of header length, found 0", "");
  expect_refused("expected at least 8 bytes of header length, found 7", std::string(7, '\0'));
  expect_refused("expected a header of at most 100000000 bytes, found 100000001",
                 length_only(100'000'001));
  expect_refused("expected a header of at most 100000000 bytes, found 18446744073709551615",
                 length_only(~0ull));
  expect_refused(
      "expected a header that ends inside the file of 8 bytes, found one that ends at 10",
      length_only(2));
}

TEST(SafetensorsRules, TheHeaderIsOneJsonObjectInUtf8) {
  expect_refused("expected a header in UTF-8, found other bytes", "{\"\xff\":{}}", 0);
  expect_refused("expected a header in UTF-8, found other bytes", "{\"\xed\xa0\x80\":{}}", 0);
  expect_refused("expected a header that starts with {, found nothing", "", 0);
  expect_refused("expected a header that starts with {, found \" \"", " {}", 0);
  expect_refused("expected a header that starts with {, found \"[\"", "[]", 0);
  expect_refused("expected a header that ends with } and spaces, found \"\\n\"", "{} \n", 0);
  expect_refused("header: expected JSON, found a mistake at byte 2", "{]}", 0);
  expect_refused("header: expected JSON, found a mistake at byte 3", "{}{}", 0);
  expect_refused("header: expected at most 3 levels of JSON, found more",
                 R"({"w":{"shape":[[1]]}})", 0);
}

TEST(SafetensorsRules, NoKeyOccursTwice) {
  const std::string w = R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_refused(R"(header: expected each key once, found "w" twice)", "{" + w + "," + w + "}", 1);
  expect_refused(R"(header: expected each key once, found "shape" twice)",
                 R"({"w":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1);
}

TEST(SafetensorsRules, MetadataHoldsStringsOnly) {
  expect_refused("__metadata__: expected an object, found 3", R"({"__metadata__":3})", 0);
  expect_refused("__metadata__: k: expected a string, found 1", R"({"__metadata__":{"k":1}})", 0);
}

TEST(SafetensorsRules, EveryEntryHasADtypeAShapeAndOffsets) {
  expect_refused("w: expected an object, found 1", R"({"w":1})", 0);
  expect_refused(R"(w: data_offsets: expected it, found {"dtype":"U8","shape":[1]})",
                 R"({"w":{"dtype":"U8","shape":[1]}})", 1);
  expect_refused(R"(w: dtype: expected it, found {"data_offsets":[0,1],"shape":[1]})",
                 R"({"w":{"shape":[1],"data_offsets":[0,1]}})", 1);
  expect_refused(R"(w: shape: expected it, found {"data_offsets":[0,1],"dtype":"U8"})",
                 R"({"w":{"dtype":"U8","data_offsets":[0,1]}})", 1);
  const std::string dtypes = "w: dtype: expected F32, F16, BF16, F64, BOOL or an integer type, ";
  expect_refused(dtypes + "found \"F7\"", entry("\"F7\"", "[1]", "[0,1]"), 1);
  expect_refused(dtypes + "found 8", entry("8", "[1]", "[0,1]"), 1);
  expect_refused("w: shape: expected a list, found 1", entry("\"U8\"", "1", "[0,1]"), 1);
  const std::string sizes = "w: shape: expected integers of at least 0, ";
  expect_refused(sizes + "found -1", entry("\"U8\"", "[-1]", "[0,1]"), 1);
  expect_refused(sizes + "found 1.0", entry("\"U8\"", "[1.0]", "[0,1]"), 1);
  expect_refused(sizes + "found \"1\"", entry("\"U8\"", "[\"1\"]", "[0,1]"), 1);
  expect_refused("w: expected a size of at most 9223372036854775807, found 9223372036854775808",
                 entry("\"U8\"", "[9223372036854775808]", "[0,1]"), 1);
  const std::string ends = "w: data_offsets: expected a begin and an end, ";
  expect_refused(ends + "found [0]", entry("\"U8\"", "[1]", "[0]"), 1);
  expect_refused(ends + "found [0,1,2]", entry("\"U8\"", "[1]", "[0,1,2]"), 1);
  expect_refused(ends + "found 0", entry("\"U8\"", "[1]", "0"), 1);
  expect_refused("w: data_offsets: expected integers of at least 0, found -1",
                 entry("\"U8\"", "[1]", "[-1,0]"), 1);
}

TEST(SafetensorsRules, OffsetsLieInTheDataAndFitTheShape) {
  expect_refused("w: data_offsets: expected begin <= end, found 1 and 0",
                 entry("\"U8\"", "[1]", "[1,0]"), 1);
  expect_refused("w: data_offsets: expected an end within the 1 bytes of data, found 2",
                 entry("\"U8\"", "[2]", "[0,2]"), 1);
  expect_refused("w: expected 12 bytes for its shape, found 8", entry("\"F32\"", "[3]", "[0,8]"),
                 8);
  expect_refused("w: expected 4 bytes for its shape, found 0", entry("\"F32\"", "[]", "[0,0]"), 0);
}

TEST(SafetensorsRules, AShapeThatWrapsAroundIsRefused) {
  // 4 x 2^31 x 2^31 is 0 in 64 bits.
  expect_refused("w: expected a size that fits 64 bits, found 8589934592 x 2147483648",
                 entry("\"F32\"", "[2147483648,2147483648]", "[0,0]"), 0);
}

// A header of U8 tensors a, b, ... with these offsets, and shapes that fit.
std::string with_offsets(const std::vector<std::pair<int, int>>& offsets) {
  std::string entries;
  char name = 'a';
  for (const auto& [begin, end] : offsets) {
    if (!entries.empty()) entries += ',';
    entries += std::string("\"") + name++ + R"(":{"dtype":"U8","shape":[)" +
               std::to_string(end - begin) + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
               std::to_string(end) + "]}";
  }
  return "{" + entries + "}";
}

TEST(SafetensorsRules, TensorsCoverTheDataEndToEnd) {
  const std::string before = "data_offsets: expected to begin where the tensor before ends, at ";
  expect_refused("a: " + before + "0, found 1", with_offsets({{1, 3}}), 3);
  expect_refused("b: " + before + "2, found 3", with_offsets({{0, 2}, {3, 4}}), 4);
  expect_refused("b: " + before + "2, found 1", with_offsets({{0, 2}, {1, 3}}), 3);
  expect_refused("b: " + before + "2, found 0", with_offsets({{0, 2}, {0, 2}}), 2);
  expect_refused("expected 2 bytes of data as the header says, found 3", with_offsets({{0, 2}}), 3);
  expect_refused("expected 0 bytes of data as the header says, found 1", "{}", 1);
}

TEST(SafetensorsRules, AnEmptyTensorLiesBetweenTwoOthersNeverInside) {
  EXPECT_EQ(parse(with_offsets({{0, 2}, {2, 2}, {2, 4}, {4, 4}}), 4).tensors().size(), 4u);
  EXPECT_EQ(parse(with_offsets({{0, 4}, {0, 0}}), 4).tensors().size(), 2u);
  expect_refused("b: data_offsets: expected to begin where the tensor before ends, at 4, found 2",
                 with_offsets({{0, 4}, {2, 2}}), 4);
}

TEST(SafetensorsRules, NamesHaveNoControlCharacters) {
  expect_refused("w\\x1b[31m: expected a name without control characters",
                 R"({"w\u001b[31m":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0);
}

TEST(SafetensorsRules, AMessageHoldsNoMoreThanThePartsOfAVeryLongName) {
  const std::string name(5'000'000, 'w');
  expect_refused(
      std::string(29, 'w') + "..." + std::string(28, 'w') + ": expected an object, found 1",
      "{\"" + name + "\":1}", 0);
}

// With the time of each entry proportional to their number, this would take many minutes.
TEST(SafetensorsRules, AHeaderOfManyTensorsIsReadInTimeProportionalToItsLength) {
  constexpr int count = 150'000;
  std::string header = "{";
  for (int i = 0; i < count; ++i) {
    header += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  EXPECT_EQ(parse(header + "}", 0).tensors().size(), static_cast<std::size_t>(count));
}

TEST(SafetensorsRules, MoreTensorsThanAnyModelHasAreRefused) {
  std::string header = "{";
  for (int i = 0; i <= 1 << 20; ++i) {
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  }
  expect_refused("expected at most 1048576 tensors, found 1048577", header + "}", 0);
}

// A file that says how large it is without having the bytes.
std::string sparse_file(const TemporaryFolder& folder, const std::string& begin,
                        std::uintmax_t size) {
  const std::string path = folder.write("sparse", begin);
  std::filesystem::resize_file(path, size);
  return path;
}

TEST(SafetensorsRules, AHugeFileIsRefusedBeforeMemoryIsTakenForIt) {
  const TemporaryFolder folder;
  const std::uintmax_t size = std::uintmax_t{1} << 40;
  const std::string empty = sparse_file(folder, "", size);
  expect_error(ErrorKind::model, empty + ": expected a header that starts with {, found nothing",
               [&] { SafetensorsFile::load(empty); });
  const std::string two_bytes = sparse_file(folder, file_bytes(with_offsets({{0, 2}}), 2), size);
  EXPECT_THROW(SafetensorsFile::load(two_bytes), Error);

  const std::string header = R"({"w":{"dtype":"U8","shape":[1099511627776],)"
                             R"("data_offsets":[0,1099511627776]}})";
  const std::string huge = sparse_file(folder, file_bytes(header, 0), size + 8 + header.size());
  expect_error(ErrorKind::model,
               huge + ": expected at most 1000 bytes of data, found 1099511627776",
               [&] { SafetensorsFile::load(huge, 1000); });
}

// The same bytes, mapped and in memory.
TEST(Safetensors, MappedFilesHaveTheBitsOfThoseThatWereRead) {
  const TemporaryFolder folder;
  std::vector<float> numbers((std::size_t{9} << 20) / 4 + 3);  // more than two chunks
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) / 7;
  std::vector<std::uint16_t> halves(numbers.size());
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i * 31);
  const auto half_bytes = std::as_bytes(std::span(halves));
  const auto count = std::ssize(numbers);
  const std::vector<TensorRecord> tensors{float_record("floats", {count}, numbers),
                                          {"f16", DType::f16, {count}, half_bytes},
                                          {"bf16", DType::bf16, {count}, half_bytes},
                                          {"i16", DType::i16, {count}, half_bytes}};
  write_safetensors(folder.file("m"), tensors);
  const SafetensorsFile mapped = SafetensorsFile::load(folder.file("m"));
  const SafetensorsFile read = SafetensorsFile::parse(read_file(folder.file("m")), "m.st");
  for (int round = 0; round < 2; ++round) {  // released bytes come back
    for (const char* name : {"floats", "f16", "bf16"}) {
      const std::vector<float> one = mapped.to_floats(mapped.require(name));
      const std::vector<float> two = read.to_floats(read.require(name));
      EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0) << name;
    }
    EXPECT_EQ(mapped.to_integers(mapped.require("i16")), read.to_integers(read.require("i16")));
  }
}

TEST(Safetensors, AFileThatIsCutWhileItIsReadIsRefused) {
  const TemporaryFolder folder;
  const std::vector<float> numbers(10'000, 1.5f);
  const std::string path = folder.file("m");
  write_safetensors(path, std::vector{float_record("w", {10'000}, numbers)});
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::filesystem::file_size(path) - 1}) {
    write_safetensors(path, std::vector{float_record("w", {10'000}, numbers)});
    const SafetensorsFile file = SafetensorsFile::load(path);
    std::filesystem::resize_file(path, size);
    expect_error(
        ErrorKind::model,
        path + ": expected a file that does not change, found it shorter while it was read",
        [&] { file.to_floats(file.require("w")); });
    EXPECT_THROW(file.release(file.require("w").bytes), Error);
  }
}

TEST(SafetensorsRules, EveryTruncationIsRefused) {
  const std::string bytes = file_bytes(with_offsets({{0, 8}, {8, 24}}), 24);
  SafetensorsFile::parse(bytes, "m.st");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(SafetensorsFile::parse(bytes.substr(0, size), "m.st"), Error) << size;
  }
}

TEST(SafetensorsRules, WritingRefusesWhatReadingWouldRefuse) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m");
  const std::vector<float> two{1, 2};
  const auto refused = [&](const std::string& message, const std::vector<TensorRecord>& tensors,
                           const Metadata& metadata = {}) {
    expect_error(ErrorKind::failed, path + ": " + message,
                 [&] { write_safetensors(path, tensors, metadata); });
  };
  refused("expected each name once, found a twice",
          {float_record("a", {2}, two), float_record("a", {2}, two)});
  refused("expected another name than __metadata__", {float_record("__metadata__", {2}, two)});
  refused("a: expected 12 bytes for its shape, found 8", {float_record("a", {3}, two)});
  refused("a: shape: expected sizes of at least 0, found -2", {float_record("a", {-2}, two)});
  refused("expected names in UTF-8, found other bytes", {float_record("\xff", {2}, two)});
  refused("a\\n: expected a name without control characters", {float_record("a\n", {2}, two)});
  refused("expected names in UTF-8, found other bytes", {}, {{"k", "\xff"}});
  EXPECT_EQ(folder.num_files(), 0u);
}

}  // namespace
}  // namespace heed::io
