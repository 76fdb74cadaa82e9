// Corpora that are wrong: refused with exit code 3 and a message that names the file, the line
// where there are lines, what was expected and what was found.
#include <functional>

#include "heed/data/cifar.h"
#include "heed/data/idx.h"
#include "heed/data/image_file.h"
#include "heed/data/labelled_images.h"
#include "heed/data/labelled_lines.h"
#include "heed/data/records.h"
#include "heed/text/lines.h"
#include "heed/train/word_links.h"
#include "reliability/expect_refused.h"
#include "support/gzip.h"
#include "support/image_files.h"

namespace heed {
namespace {

using Read = std::function<void(const std::string& path)>;

struct BadFile {
  std::string name;
  std::string bytes;
  std::string message;  // after the folder
};

void expect_files_refused(std::span<const BadFile> rows, const Read& read) {
  for (const BadFile& row : rows) {
    SCOPED_TRACE(row.message);
    const TemporaryFolder folder;
    const std::string path = folder.write(row.name, row.bytes);
    expect_refused(folder.path(), bad_data, '/' + row.message, [&] { read(path); });
  }
}

std::string with_byte(std::string bytes, std::size_t at, char byte) {
  bytes.at(at) = byte;
  return bytes;
}

TEST(BadCorpus, LinesThatAreNoText) {
  const std::string compressed = gzip("one\ntwo\n");
  const std::string utf8 = ": not valid UTF-8 at byte ";
  const std::string damaged = ": cannot read: the compressed data is damaged or cut short";
  const BadFile rows[]{
      {"t", "\xff", "t:1" + utf8 + "1 (found 0xff)"},
      {"t", "a\nb\xc3\n", "t:2" + utf8 + "2 (found 0xc3)"},
      {"t", "a\n\nb\x80", "t:3" + utf8 + "2 (found 0x80)"},
      {"t", "\xc0\xaf\n", "t:1" + utf8 + "1 (found 0xc0)"},          // overlong /
      {"t", "\xed\xa0\x80\n", "t:1" + utf8 + "1 (found 0xed)"},      // a surrogate
      {"t", "\xf4\x90\x80\x80\n", "t:1" + utf8 + "1 (found 0xf4)"},  // above U+10FFFF
      {"t", "ok\n\xe2\x82\n", "t:2" + utf8 + "1 (found 0xe2)"},      // cut short
      {"t",
       "\xff\xfe"
       "a\0\n\0",
       "t:1" + utf8 + "1 (found 0xff)"},  // UTF-16
      {"t", std::string(16 << 20, 'x') + "y\n", "t:1: expected a line of at most 16777216 bytes"},
      {"t", "a\nb\n" + std::string((16 << 20) + 1, 'x'),
       "t:3: expected a line of at most 16777216 bytes"},
      {"t.gz", gzip("one\ntwo \xff\n"), "t.gz:2" + utf8 + "5 (found 0xff)"},
      {"t.gz", compressed.substr(0, 2), "t.gz" + damaged},
      {"t.gz", compressed.substr(0, 10), "t.gz" + damaged},
      {"t.gz", compressed.substr(0, compressed.size() - 1), "t.gz" + damaged},
      {"t.gz", with_byte(compressed, 2, 7), "t.gz" + damaged},  // another method than deflate
      {"t.gz", with_byte(compressed, compressed.size() - 1, 1), "t.gz" + damaged},    // its size
      {"t.gz", with_byte(compressed, compressed.size() - 5, '?'), "t.gz" + damaged},  // its CRC
      {"t.gz", with_byte(compressed, 11, '?'), "t.gz" + damaged},
      {"t.gz", compressed + "more\n",
       "t.gz: expected nothing after the compressed data, found other bytes"},
      {"t.gz", compressed + std::string(8, '\0'),
       "t.gz: expected nothing after the compressed data, found other bytes"},
      {"t.gz", compressed + compressed.substr(0, 12), "t.gz" + damaged},
  };
  expect_files_refused(rows, [](const std::string& path) { text::read_lines(path); });
}

TEST(BadCorpus, FilesThatAreNoFiles) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("inside"));
  for (const char* name : {"none", "none.gz"}) {
    expect_refused(folder.path(), bad_data, std::string(name) + ": cannot open: No such file",
                   [&] { text::read_lines(folder.file(name)); });
  }
  expect_refused(folder.path(), bad_data, "inside: expected a text file, found a directory",
                 [&] { text::read_lines(folder.file("inside")); });
}

TEST(BadCorpus, SidesThatDoNotBelongTogether) {
  struct Sides {
    const char* source;
    const char* target;
    const char* message;
  };
  constexpr Sides rows[]{
      {"a\nb\n", "a\n", "/s has 2 lines but "},
      {"a\n", "a\nb\n", "/s has 1 line but "},
      {"", "a\n", "/s has 0 lines but "},
      {"a\n\n", "a\n", "/s has 2 lines but "},
      {"", "", "expected lines of text, found none"},
      {"a\n", "\xff\n", "/t:1: not valid UTF-8 at byte 1 (found 0xff)"},
  };
  for (const Sides& row : rows) {
    const TemporaryFolder folder;
    const std::string source = folder.write("s", row.source),
                      target = folder.write("t", row.target);
    expect_refused(folder.path(), bad_data, row.message,
                   [&] { text::read_parallel_lines(source, target); });
  }
}

TEST(BadCorpus, RecordsWithoutTheirFields) {
  const std::string object = ": expected a JSON object, found ";
  const BadFile rows[]{
      // By the name of the file.
      {"r", "a\tb\n", "r: expected a name that ends in .tsv, .csv or .jsonl, found none of them"},
      {"r.txt", "a\tb\n", "r.txt: expected a name that ends in .tsv, .csv or .jsonl, found '.txt'"},
      {"r.json", "{}\n",
       "r.json: expected a name that ends in .tsv, .csv or .jsonl, found '.json'"},
      {"r.gz", "", "r.gz: expected a name that ends in .tsv, .csv or .jsonl, found none of them"},
      // Tab-separated values.
      {"r.tsv", "", "r.tsv: expected records with source, target, found none"},
      {"r.tsv", "\n\n", "r.tsv: expected records with source, target, found none"},
      {"r.tsv", "source\ttarget\n", "r.tsv: expected records with source, target, found none"},
      {"r.tsv", "one column\n", "r.tsv:1: expected 2 columns (source, target) with a tab"},
      {"r.tsv", "a\tb\nc\n", "r.tsv:2: expected 2 columns, as in line 1, found 1"},
      {"r.tsv", "a\tb\n\nc\td\te\n", "r.tsv:3: expected 2 columns, as in line 1, found 3"},
      {"r.tsv", "id\tsource\ttarget\n1\ta\n", "r.tsv:2: expected 3 columns, as in line 1, found 2"},
      {"r.tsv", "source\ttarget\tsource\na\tb\tc\n",
       "r.tsv:1: expected one column 'source', found several"},
      {"r.tsv", "a\tb\n\xfe\tc\n", "r.tsv:2: not valid UTF-8 at byte 1 (found 0xfe)"},
      {"r.tsv.gz", gzip("a\tb\nc\n"), "r.tsv.gz:2: expected 2 columns, as in line 1, found 1"},
      // Comma-separated values.
      {"r.csv", "", "r.csv: expected records with source, target, found none"},
      {"r.csv", "source,target\n", "r.csv: expected records with source, target, found none"},
      {"r.csv", "a\n", "r.csv:1: expected a header with source, target, or 2 columns, found 1"},
      {"r.csv", "a,b,c\n", "r.csv:1: expected a header with source, target, or 2 columns, found 3"},
      {"r.csv", "source,text\na,b\n", "r.csv:1: expected a column 'target', found source, text"},
      {"r.csv", "target,words\na,b\n", "r.csv:1: expected a column 'source', found target, words"},
      {"r.csv", "source,target,target\na,b,c\n",
       "r.csv:1: expected one column 'target', found several"},
      {"r.csv", "source,target\na\n", "r.csv:2: expected 2 columns, as in line 1, found 1"},
      {"r.csv", "source,target\na,b\n\nc,d,e\n",
       "r.csv:4: expected 2 columns, as in line 1, found 3"},
      {"r.csv", "source,target\n\"a,b\n", "r.csv:2: expected a closing quote, found the end"},
      {"r.csv", "source,target\na,b\nc,\"d\n\n\n",
       "r.csv:3: expected a closing quote, found the end"},
      {"r.csv", "source,target\n\"a\"x,b\n",
       "r.csv:2: expected a comma after the closing quote, found 'x'"},
      {"r.csv", "source,target\n\"a\nb\" c,d\n",
       "r.csv:3: expected a comma after the closing quote, found 'c'"},
      {"r.csv", "source,target\n\"a\nb\",c\nd\n", "r.csv:4: expected 2 columns, as in line 1"},
      {"r.csv", "source,target\na,\xff\n", "r.csv:2: not valid UTF-8 at byte 3 (found 0xff)"},
      // JSON lines.
      {"r.jsonl", "", "r.jsonl: expected records with source, target, found none"},
      {"r.jsonl", " \n\t\n", "r.jsonl: expected records with source, target, found none"},
      {"r.jsonl", "{}\n", "r.jsonl:1: source: expected this field, found none"},
      {"r.jsonl", "{\"source\": \"a\"}\n", "r.jsonl:1: target: expected this field, found none"},
      {"r.jsonl", "{\"source\": \"a\", \"target\": null}\n",
       "r.jsonl:1: target: expected this field, found none"},
      {"r.jsonl", "{\"source\": \"a\", \"target\": 1.5}\n",
       "r.jsonl:1: target: expected a string, found 1.5"},
      {"r.jsonl", "{\"source\": [\"a\"], \"target\": \"b\"}\n",
       "r.jsonl:1: source: expected a string, found [\"a\"]"},
      {"r.jsonl", "{\"source\": \"a\", \"target\": true}\n",
       "r.jsonl:1: target: expected a string, found true"},
      {"r.jsonl", "[\"a\", \"b\"]\n", "r.jsonl:1" + object + "[\"a\",\"b\"]"},
      {"r.jsonl", "\"a\"\n", "r.jsonl:1" + object + "\"a\""},
      {"r.jsonl", "null\n", "r.jsonl:1" + object + "null"},
      {"r.jsonl", "{\"source\": \"a\", \"target\": \"b\"}\n{\n",
       "r.jsonl:2: expected JSON, found a mistake at byte 2"},
      {"r.jsonl", "{\"source\": \"a\", \"target\": \"b\"} {}\n",
       "r.jsonl:1: expected JSON, found a mistake at byte 32"},
      {"r.jsonl", "\n{'source': 'a'}\n", "r.jsonl:2: expected JSON, found a mistake at byte 2"},
      {"r.jsonl", "{\"source\": \"a\", \"source\": \"b\"}\n",
       "r.jsonl:1: expected each key once, found \"source\" twice"},
      {"r.jsonl", std::string(1000, '[') + "\n",
       "r.jsonl:1: expected at most 64 levels of JSON, found more"},
      {"r.jsonl", "{\"source\": 1e999}\n", "r.jsonl:1: expected JSON, found a number that is too"},
      {"r.jsonl", "{\"source\": \"\\ud800\"}\n",
       "r.jsonl:1: expected JSON, found a mistake at byte"},
      {"r.jsonl", "{\"source\": \"\xff\"}\n", "r.jsonl:1: not valid UTF-8 at byte 13 (found 0xff)"},
  };
  expect_files_refused(rows, [](const std::string& path) { data::read_record_pairs(path); });
}

TEST(BadCorpus, LabelledLinesWithoutLabelOrText) {
  const std::string control = "expected a label on one line, without control characters, found ";
  const BadFile rows[]{
      {"l.tsv", "good\ttext\n\ttext\n", "l.tsv:2: expected a label, found an empty one"},
      {"l.tsv", " \ttext\n", "l.tsv:1: expected a label, found an empty one"},
      {"l.tsv", "good\t\n", "l.tsv:1: expected text after the label good, found none"},
      {"l.tsv", "good\ttext\nbad\t  \n", "l.tsv:2: expected text after the label bad, found none"},
      {"l.tsv", "good\n", "l.tsv:1: expected 2 columns (label, text) with a tab"},
      {"l.tsv", "a\x1b[31m\ttext\n", "l.tsv:1: " + control + "\"a\\x1b[31m\""},
      {"l.csv", "label,text\n,text\n", "l.csv:2: expected a label, found an empty one"},
      {"l.csv", "label,text\ngood,\n", "l.csv:2: expected text after the label good, found none"},
      {"l.csv", "label,text\n\"a\nb\",text\n", "l.csv:2: " + control + "\"a\\nb\""},
      {"l.jsonl", "{\"label\": \"\", \"text\": \"a\"}\n",
       "l.jsonl:1: expected a label, found an empty"},
      {"l.jsonl", "{\"label\": \"a\\nb\", \"text\": \"a\"}\n",
       "l.jsonl:1: " + control + "\"a\\nb\""},
      {"l.jsonl", "{\"label\": \"a\\tb\", \"text\": \"a\"}\n",
       "l.jsonl:1: " + control + "\"a\\tb\""},
      {"l.jsonl", "{\"label\": \"a\", \"text\": \" \\n\"}\n",
       "l.jsonl:1: expected text after the label a, found none"},
      {"l.jsonl", "{\"label\": \"a\"}\n", "l.jsonl:1: text: expected this field, found none"},
      {"l.jsonl", "{\"label\": \"" + std::string(1001, 'x') + "\", \"text\": \"a\"}\n",
       "l.jsonl:1: expected a label of at most 1000 bytes, found one of 1001"},
  };
  expect_files_refused(rows, [](const std::string& path) { data::read_labelled_lines(path); });

  const std::vector<std::string> labels{"good", "bad"};
  const TemporaryFolder folder;
  const std::string path = folder.write("l.tsv", "good\ta\nGood\tb\n");
  expect_refused(folder.path(), bad_data,
                 "l.tsv:2: expected one of the 2 labels of the model, found",
                 [&] { data::classes_of(data::read_labelled_lines(path).lines, labels, path); });
}

TEST(BadCorpus, WordAlignmentsThatAreNone) {
  const BadFile rows[]{
      {"a", "0-0\n", "a: expected 2 lines, as many as the source has, found 1"},
      {"a", "0-0\n\n1-1\n", "a: expected 2 lines, as many as the source has, found 3"},
      {"a", "0-0\n0\n", "a: line 2: expected links like 0-1, found 0"},
      {"a", "0-\n\n", "a: line 1: expected links like 0-1, found 0-"},
      {"a", "-0\n\n", "a: line 1: expected links like 0-1, found -0"},
      {"a", "0--1\n\n", "a: line 1: expected links like 0-1, found 0--1"},
      {"a", "0-0 1:1\n\n", "a: line 1: expected links like 0-1, found 1:1"},
      {"a", "0?0\n\n", "a: line 1: expected links like 0-1, found 0?0"},
      {"a", "\n0-1-2\n", "a: line 2: expected links like 0-1, found 0-1-2"},
      {"a", "\n9223372036854775808-0\n", "a: line 2: expected links like 0-1, found 9223372036"},
      {"a", "\na-b\n", "a: line 2: expected links like 0-1, found a-b"},
      {"a", "\n\xff\n", "a:2: not valid UTF-8 at byte 1 (found 0xff)"},
  };
  expect_files_refused(rows, [](const std::string& path) { train::read_word_links(path, 2); });
}

TEST(BadCorpus, IdxFilesThatAreNone) {
  const std::string cut = ", found one that is cut short in its header";
  const BadFile images[]{
      {"i", "", "i: expected an IDX file of images" + cut},
      {"i", std::string("\0\0\x08", 3), "i: expected an IDX file of images" + cut},
      {"i", idx_bytes(2051, {1, 2}, {}), "i: expected an IDX file of images" + cut},
      {"i", idx_bytes(2049, {1}, {0}), "i: expected an IDX file of images, with magic number 2051"},
      {"i", idx_bytes(2051, {0, 2, 2}, {}), "i: expected images with pixels, found 0 of 2 x 2"},
      {"i", idx_bytes(2051, {1, 0, 2}, {}), "i: expected images with pixels, found 1 of 2 x 0"},
      {"i", idx_bytes(2051, {1, 2, 2}, {1, 2, 3}), "i: expected 4 bytes of images, found 3"},
      {"i", idx_bytes(2051, {1, 2, 2}, {1, 2, 3, 4, 5}),
       "i: expected 4 bytes of images, found more"},
      {"i", idx_bytes(2051, {0xffffffff, 0xffffffff, 0xffffffff}, {}),
       "i: expected a size that fits 64 bits, found"},
      {"i", idx_bytes(2051, {0x7fffffff, 28, 28}, {}), "i: expected at most 4294967296 bytes of"},
      {"i.gz", gzip(idx_bytes(2051, {1, 2, 2}, {1, 2, 3, 4})).substr(0, 25),
       "i.gz: cannot read: the compressed data is damaged or cut short"},
  };
  expect_files_refused(images, [](const std::string& path) { data::read_idx_images(path); });
  const BadFile labels[]{
      {"l", idx_bytes(2051, {1, 1, 1}, {0}),
       "l: expected an IDX file of labels, with magic number"},
      {"l", idx_bytes(2049, {0}, {}), "l: expected labels, found none"},
      {"l", idx_bytes(2049, {3}, {0, 1}), "l: expected 3 bytes of labels, found 2"},
      {"l", idx_bytes(2049, {1}, {0, 1}), "l: expected 1 bytes of labels, found more"},
      {"l", idx_bytes(2049, {0xffffffff}, {0}), "l: expected 4294967295 bytes of labels, found 1"},
  };
  expect_files_refused(labels, [](const std::string& path) { data::read_idx_labels(path); });
}

TEST(BadCorpus, CifarFilesThatAreNone) {
  const std::string record = cifar_record(0, 1, 2, 3);
  const BadFile rows[]{
      {"c", "", "c: expected records of CIFAR-10, of 3073 bytes each, found 0 bytes"},
      {"c", "x", "c: expected records of CIFAR-10, of 3073 bytes each, found 1 bytes"},
      {"c", record.substr(0, 3072), "c: expected records of CIFAR-10, of 3073 bytes each, found"},
      {"c", record + '\n', "c: expected records of CIFAR-10, of 3073 bytes each, found 3074"},
      {"c", gzip(record), "c: expected records of CIFAR-10, of 3073 bytes each, found"},
      {"c", cifar_record(10, 1, 2, 3), "c: expected a class from 0 to 9, found 10 for image 1"},
      {"c", record + cifar_record(255, 1, 2, 3), "c: expected a class from 0 to 9, found 255"},
  };
  expect_files_refused(rows, [](const std::string& path) { data::read_cifar_batch(path); });
}

data::Image grey_image() { return {{4, 4, 1}, std::vector<std::uint8_t>(16, 128)}; }

TEST(BadCorpus, ImagesThatAreNone) {
  const std::string png = png_bytes(grey_image()), jpeg = jpeg_bytes(grey_image());
  constexpr std::size_t width = 16, height = 20, check = 29;  // places in the header of a PNG
  const std::string bad_png = "i: expected a PNG image, found a broken one: ";
  const std::string bad_jpeg = "i: expected a JPEG image, found a broken one: ";
  const BadFile rows[]{
      {"i", "", "i: expected a PNG or JPEG image, found an empty file"},
      {"i", "GIF89a", "i: expected a PNG or JPEG image, found a file that starts with 47 49 46 38"},
      {"i", "x", "i: expected a PNG or JPEG image, found a file that starts with 78"},
      {"i", png.substr(1),
       "i: expected a PNG or JPEG image, found a file that starts with 50 4e 47"},
      {"i", png.substr(0, 8), bad_png},
      {"i", png.substr(0, 20), bad_png},
      {"i", png.substr(0, 40), bad_png},
      {"i", with_byte(png, check, '?'), bad_png},
      {"i", with_byte(png, width + 3, 0), bad_png},
      {"i", with_byte(png, height, '\x7f'), bad_png},
      {"i", with_byte(png, png.find("IDAT") + 6, '\x7f'), bad_png},
      {"i", jpeg.substr(0, 3), bad_jpeg},
      {"i", jpeg.substr(0, jpeg.size() / 2), bad_jpeg},
      {"i", jpeg.substr(0, jpeg.size() - 2), bad_jpeg},
      {"i", "\xff\xd8\xff" + std::string(100, '\0'), bad_jpeg},
      {"i", jpeg_of_four_inks(2, 2),
       "i: expected a JPEG image in grey or RGB, found one of 4 colours"},
  };
  expect_files_refused(rows, [](const std::string& path) { data::read_image(path); });
}

TEST(BadCorpus, FoldersOfImagesThatAreNotComplete) {
  const std::string png = png_bytes(grey_image());
  struct BadFolder {
    std::map<std::string, std::string> files;  // folders are made as needed
    const char* message;
  };
  const BadFolder rows[]{
      {{}, "expected a folder for each class, or files of MNIST or CIFAR-10, found neither"},
      {{{"a.png", png}},
       "expected a folder for each class, or files of MNIST or CIFAR-10, found neither"},
      {{{"a/1.png", png}}, "expected images of at least 2 classes, found 1"},
      {{{"a/1.png", png}, {"b/.hidden", png}}, "/b: expected images, found none"},
      {{{"a/1.png", png}, {"b/1.png", "text"}}, "/b/1.png: expected a PNG or JPEG image, found"},
      {{{"a/1.png", png}, {"b/notes.txt", ""}},
       "/b/notes.txt: expected a PNG or JPEG image, found"},
      {{{"train-images-idx3-ubyte", idx_bytes(2051, {1, 1, 1}, {0})}},
       "expected the labels beside it in a file of labels-idx1-ubyte, found none"},
      {{{"train-images-idx3-ubyte", idx_bytes(2051, {1, 1, 1}, {0})},
        {"train-labels-idx1-ubyte", idx_bytes(2049, {2}, {0, 1})}},
       "expected 1 labels, one for each image, found 2"},
      {{{"train-images-idx3-ubyte", idx_bytes(2051, {2, 1, 1}, {0, 1})},
        {"train-labels-idx1-ubyte", idx_bytes(2049, {2}, {0, 0})}},
       "expected images of at least 2 classes, found 1"},
      {{{"data_batch_1.bin", cifar_record(0, 1, 2, 3)}}, "/data_batch_2.bin: "},
      {{{"test_batch.bin", cifar_record(0, 1, 2, 3)}}, "/data_batch_1.bin: "},
      {{{"data_batch_1.bin", cifar_record(0, 1, 2, 3)}, {"batches.meta.txt", "cat\n"}},
       "/batches.meta.txt: expected the names of 10 classes, found 1"},
  };
  for (const BadFolder& row : rows) {
    const TemporaryFolder folder;
    for (const auto& [name, bytes] : row.files) {
      std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
      folder.write(name, bytes);
    }
    expect_refused(folder.path(), bad_data, row.message, [&] {
      data::LabelledImages::read(folder.path(), data::ImagePart::train, {4, 4, 1});
    });
  }
}

}  // namespace
}  // namespace heed
