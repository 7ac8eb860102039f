// Checkpoints: upstream's files are read to the last value, our own are read back by our reader and
// by PyTorch, and what is neither is refused by name.
#include "ancestry/model/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ancestry/model/pickle.h"
#include "ancestry/model/zip_archive.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::HasSubstr;

std::string RunPython(const std::string& python, const std::string& script) {
  const TempDir folder;
  const std::string file = folder.Write("script.py", script);
  const std::string out = folder.File("out.txt");
  const int code = std::system((python + " " + file + " > " + out + " 2>&1").c_str());
  return code == 0 ? ReadWholeFile(out) : "failed: " + ReadWholeFile(out);
}

TEST(CheckpointReader, ReadsTheBestModelOfUpstream) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const auto checkpoint = ReadCheckpoint((*shared / "dietnet/bn24-d/best_model.pt").string());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().Message();
  EXPECT_EQ(checkpoint->epoch, 300);
  // Read by hand from the bytes of the pickle: 19 1a 15 42 ad e8 55 40, little-endian.
  ASSERT_TRUE(checkpoint->mean_accuracy.has_value());
  EXPECT_NEAR(*checkpoint->mean_accuracy, 87.6355, 1e-4);
  ASSERT_EQ(checkpoint->state.size(), 17u);
  EXPECT_EQ(checkpoint->state[0].name, "aux_net.hidden_layers.0.weight");
  EXPECT_EQ(checkpoint->state[0].tensor.shape, (std::vector<int64_t>{100, 72}));
  const Tensor* counter = checkpoint->Find("main_net.bn.0.num_batches_tracked");
  ASSERT_NE(counter, nullptr);
  EXPECT_TRUE(counter->is_integer);
  EXPECT_TRUE(counter->shape.empty());
  EXPECT_EQ(counter->integers.size(), 1u);
}

TEST(CheckpointReader, ReadsTheLastModelOfUpstream) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const auto last =
      ReadCheckpoint((*shared / "dietnet/tiny/train_nodropout/last_model.pt").string());
  ASSERT_TRUE(last.ok()) << last.error().Message();
  EXPECT_EQ(last->epoch, 12);
  EXPECT_TRUE(last->patience.has_value());
  EXPECT_FALSE(last->mean_loss.has_value());
}

Checkpoint SmallCheckpoint() {
  Checkpoint checkpoint;
  checkpoint.epoch = 1000;
  checkpoint.mean_loss = 0.25;
  checkpoint.mean_accuracy = 92.5;
  checkpoint.state.push_back({"a.weight", {{2, 3}, false, {1, 2, 3, 4, 5, 6}, {}}});
  checkpoint.state.push_back({"a.count", {{}, true, {}, {int64_t{1} << 40}}});
  return checkpoint;
}

TEST(CheckpointWriter, ReadsBackWhatItWrote) {
  const TempDir folder;
  const std::string path = folder.File("model.pt");
  ASSERT_TRUE(WriteCheckpoint(SmallCheckpoint(), path).ok());
  const auto back = ReadCheckpoint(path);
  ASSERT_TRUE(back.ok()) << back.error().Message();
  EXPECT_EQ(back->epoch, 1000);
  EXPECT_EQ(back->mean_loss, 0.25);
  ASSERT_EQ(back->state.size(), 2u);
  EXPECT_EQ(back->state[0].tensor.floats, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(back->state[1].tensor.integers, (std::vector<int64_t>{int64_t{1} << 40}));
}

TEST(CheckpointWriter, IsReadByPyTorch) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch' > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "PyTorch is not installed: our checkpoints were not read by it";
  }
  const TempDir folder;
  const std::string path = folder.File("model.pt");
  ASSERT_TRUE(WriteCheckpoint(SmallCheckpoint(), path).ok());
  EXPECT_EQ(RunPython(python, "import torch\nm = torch.load('" + path +
                                  "', map_location='cpu')\ns = m['model_state_dict']\n"
                                  "print(list(s), s['a.weight'].tolist(), s['a.count'].item(), "
                                  "m['epoch'], m['best_results']['mean_acc'])\n"),
            "['a.weight', 'a.count'] [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] 1099511627776 1000 92.5\n");
}

// Tensors that are views: transposed, with an offset, of double and half precision.
TEST(CheckpointReader, HonoursStridesOffsetsAndPrecision) {
  const std::string python = "/usr/bin/python3";
  if (std::system((python + " -c 'import torch' > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "PyTorch is not installed";
  }
  const TempDir folder;
  const std::string path = folder.File("views.pt");
  RunPython(python,
            "import torch, collections\nx = torch.arange(6.).reshape(2, 3)\n"
            "torch.save(collections.OrderedDict(t=x.t(), tail=x[1, 1:], "
            "d=x.double(), h=x.half() / 4, one=torch.tensor(-0.5)), '" +
                path + "')\n");
  const auto read = ReadCheckpoint(path);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  EXPECT_EQ(read->Find("t")->shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(read->Find("t")->floats, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(read->Find("tail")->floats, (std::vector<float>{4, 5}));
  EXPECT_EQ(read->Find("d")->floats, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read->Find("h")->floats, (std::vector<float>{0, .25f, .5f, .75f, 1, 1.25f}));
  EXPECT_EQ(read->Find("one")->floats, (std::vector<float>{-0.5f}));
}

TEST(CheckpointReader, RefusesWhatIsNoCheckpoint) {
  const TempDir folder;
  const auto text = ReadCheckpoint(folder.Write("a.pt", "not a zip"));
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().Message(), HasSubstr("ZIP"));
  EXPECT_FALSE(ReadCheckpoint(folder.File("absent.pt")).ok());
}

// Every prefix of a valid file must be an error, never a crash or a partial model.
TEST(CheckpointReader, RefusesEveryTruncation) {
  const TempDir folder;
  const std::string path = folder.File("model.pt");
  ASSERT_TRUE(WriteCheckpoint(SmallCheckpoint(), path).ok());
  const std::string whole = ReadWholeFile(path);
  for (size_t length = 0; length < whole.size(); length += 7) {
    EXPECT_FALSE(ReadCheckpoint(folder.Write("cut.pt", whole.substr(0, length))).ok()) << length;
  }
}

}  // namespace
}  // namespace tallele
