#include "heed/data/contrastive_items.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/temporary_folder.h"

namespace heed::data {
namespace {

using Texts = std::vector<std::string>;

class ContrastiveItemsTest : public testing::Test {
 protected:
  std::vector<ContrastiveItem> items(const std::string& name, const std::string& content,
                                     const RecordOptions& options = {}) const {
    return read_contrastive_items(folder_.write(name, content), options);
  }

  // The message, without the folder.
  std::string error(const std::string& name, const std::string& content) const {
    try {
      items(name, content);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
      return std::string(error.what()).substr(folder_.path().size() + 1);
    }
    ADD_FAILURE() << "no error: " << content;
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(ContrastiveItemsTest, WithoutAHeaderAreASourceATargetAndWrongTranslations) {
  const auto found = items("a.tsv", "It fell.\tEr fiel.\tSie fiel.\tEs fiel.\nHi.\tHallo.\tTja.\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].source, "It fell.");
  EXPECT_EQ(found[0].target, "Er fiel.");
  EXPECT_EQ(found[0].contrastive, (Texts{"Sie fiel.", "Es fiel."}));
  EXPECT_EQ(found[0].group, "");
  EXPECT_EQ(found[1].contrastive, Texts{"Tja."});
  EXPECT_EQ(found[1].line, 2u);
}

TEST_F(ContrastiveItemsTest, TakeTheirPartsByTheNamesOfAHeader) {
  const auto found = items("a.csv",
                           "group,src,Contrastive_1,note,reference,contrastive 2\n"
                           "er,It fell.,Sie fiel.,x,Er fiel.,Es fiel.\n"
                           ",It sat.,,y,Sie saß.,\"Er, saß.\"\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].group, "er");
  EXPECT_EQ(found[0].source, "It fell.");
  EXPECT_EQ(found[0].target, "Er fiel.");
  EXPECT_EQ(found[0].contrastive, (Texts{"Sie fiel.", "Es fiel."}));
  EXPECT_EQ(found[1].group, "");
  EXPECT_EQ(found[1].contrastive, Texts{"Er, saß."});
}

TEST_F(ContrastiveItemsTest, TakeSourceAndTargetFromGivenColumns) {
  const std::string content = "de\ten\tcontrastive\tcontrastive\nEr.\tIt.\tSie.\tEs.\n";
  const auto by_name = items("a.tsv", content, {.fields = {"en", "de"}});
  ASSERT_EQ(by_name.size(), 1u);
  EXPECT_EQ(by_name[0].source, "It.");
  EXPECT_EQ(by_name[0].contrastive, (Texts{"Sie.", "Es."}));
  const auto by_number = items("b.tsv", "Er.\tIt.\tSie.\n", {.fields = {"2", "1"}});
  EXPECT_EQ(by_number[0].source, "It.");
  EXPECT_EQ(by_number[0].contrastive, Texts{"Sie."});
}

TEST_F(ContrastiveItemsTest, OfJsonHaveATextOrAListOfThem) {
  const auto found =
      items("a.jsonl",
            "{\"source\": \"It.\", \"target\": \"Er.\", \"group\": 3, "
            "\"contrastive\": [\"Sie.\", \"Es.\"]}\n"
            "{\"source\": \"It.\", \"target\": \"Er.\", \"contrastive\": \"Sie.\"}\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].contrastive, (Texts{"Sie.", "Es."}));
  EXPECT_EQ(found[0].group, "3");
  EXPECT_EQ(found[1].contrastive, Texts{"Sie."});
  EXPECT_EQ(found[1].group, "");
}

TEST_F(ContrastiveItemsTest, AreRefusedWithoutAWrongTranslation) {
  EXPECT_EQ(error("a.tsv", "It.\tEr.\n"),
            "a.tsv:1: expected a third column with a wrong translation, found 2 columns");
  EXPECT_EQ(error("b.tsv", "It.\tEr.\tSie.\nIt.\tEr.\t\n"),
            "b.tsv:2: expected a contrastive translation, found none");
  EXPECT_EQ(error("c.tsv", "source\ttarget\tgroup\nIt.\tEr.\ter\n"),
            "c.tsv:1: expected a column 'contrastive', found none");
  EXPECT_EQ(error("d.tsv", "It.\tEr.\tSie.\nIt.\tEr.\tSie.\tEs.\n"),
            "d.tsv:2: expected at most 3 columns, as in line 1, found 4");
  EXPECT_EQ(error("e.jsonl", "{\"source\": \"It.\", \"target\": \"Er.\"}\n"),
            "e.jsonl:1: expected a contrastive translation, found none");
  EXPECT_EQ(error("f.tsv", "\n"),
            "f.tsv: expected records with source, target and contrastive translations, found none");
}

}  // namespace
}  // namespace heed::data
