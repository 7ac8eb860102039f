#include "results/run_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include "base/error.h"
#include "results/run_folder.h"

namespace tallele {
namespace {

constexpr auto kHeartbeat = std::chrono::seconds(10);
constexpr int64_t kStaleSeconds = 60;
constexpr size_t kLongestRecord = 1024;

enum class KernelLock { kTaken, kHeldByAnother, kNotSupported };

KernelLock TryKernelLock(int descriptor) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return KernelLock::kTaken;
  return errno == EAGAIN || errno == EACCES ? KernelLock::kHeldByAnother
                                            : KernelLock::kNotSupported;
}

std::string ReadRecord(int descriptor) {
  char text[kLongestRecord];
  const ssize_t got = pread(descriptor, text, sizeof text, 0);
  return got > 0 ? std::string(text, static_cast<size_t>(got)) : std::string();
}

// The value behind `key=` on a line of the record.
std::string RecordValue(const std::string& record, const std::string& key) {
  const size_t at = record.find(key + "=");
  if (at == std::string::npos) return {};
  const size_t begin = at + key.size() + 1;
  return record.substr(begin, record.find('\n', begin) - begin);
}

std::string RandomToken() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += std::to_string(device()) + ".";
  return token;
}

// Seconds since the lock file was last touched, by the clock that stamps files in its folder;
// -1 when it cannot be told.
int64_t RecordAge(int descriptor, const std::string& path) {
  struct stat record{};
  struct stat probe{};
  const std::string name = path + ".tmp-" + std::to_string(getpid()) + "-0";
  const int other = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (other < 0) return -1;
  const bool told =
      write(other, "t", 1) == 1 && fstat(other, &probe) == 0 && fstat(descriptor, &record) == 0;
  close(other);
  unlink(name.c_str());
  return told ? int64_t{probe.st_mtim.tv_sec} - int64_t{record.st_mtim.tv_sec} : -1;
}

Error Held(const std::string& path, const std::string& record, std::string advice) {
  std::string owner = RecordValue(record, "host");
  if (!owner.empty()) owner = "process " + RecordValue(record, "pid") + " on " + owner;
  Error error = UsageError("another run works in this folder", std::move(advice));
  error.where = path;
  error.found = owner.empty() ? "a lock of another process" : "the lock of " + owner;
  return error;
}

}  // namespace

MachineIdentity ThisMachine() {
  MachineIdentity machine;
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) == 0) machine.host = name;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  if (!std::getline(boot, machine.boot)) machine.boot = machine.host;
  return machine;
}

Result<std::unique_ptr<RunLock>> RunLock::Take(const std::string& folder,
                                               const MachineIdentity& machine) {
  const std::string path = folder + "/" + kLockName;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return IoError("cannot open the lock of the run folder", path, errno);
  std::unique_ptr<RunLock> lock(new RunLock(descriptor, path));
  const KernelLock kernel = TryKernelLock(descriptor);
  const std::string record = ReadRecord(descriptor);
  if (kernel == KernelLock::kHeldByAnother) {
    return Held(path, record, "Wait until it has ended, or choose another --out.");
  }
  const bool same_machine = RecordValue(record, "boot") == machine.boot;
  if (!record.empty() && !(same_machine && kernel == KernelLock::kTaken)) {
    const int64_t age = RecordAge(descriptor, path);
    if (age < kStaleSeconds) {
      return Held(path, record,
                  "If that run is dead, try again a minute after its end; a run that lives touches "
                  "the lock every ten seconds.");
    }
  }
  lock->token_ = "token=" + RandomToken() + "\nhost=" + machine.host + "\nboot=" + machine.boot +
                 "\npid=" + std::to_string(getpid()) + "\n";
  TALLELE_TRY(lock->WriteRecord(lock->token_));
  lock->heartbeat_ = std::thread([raw = lock.get()] { raw->KeepFresh(); });
  return lock;
}

RunLock::~RunLock() {
  if (heartbeat_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    heartbeat_.join();
  }
  // An emptied record tells other machines at once that nobody is here; if that fails they wait.
  if (!token_.empty() && Confirm().ok()) {
    [[maybe_unused]] const Result<void> ignored = WriteRecord("");
  }
  close(descriptor_);
}

Result<void> RunLock::WriteRecord(const std::string& text) const {
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return IoError("cannot write the lock of the run folder", path_, errno);
  }
  return {};
}

void RunLock::KeepFresh() {
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, kHeartbeat, [this] { return stop_; })) {
    if (ReadRecord(descriptor_) == token_) futimens(descriptor_, nullptr);
  }
}

Result<void> RunLock::Confirm() const {
  struct stat named{};
  struct stat opened{};
  Error error = UsageError("the lock of the run folder was removed or taken by another run",
                           "Nothing more is published; look which run works there, then run again "
                           "with --resume.");
  error.kind = ErrorKind::kIo;
  error.where = path_;
  if (stat(path_.c_str(), &named) != 0 || fstat(descriptor_, &opened) != 0 ||
      named.st_ino != opened.st_ino) {
    error.found = "no lock file, or another one";
    return error;
  }
  const std::string record = ReadRecord(descriptor_);
  if (record == token_) return {};
  error.found =
      "the record of process " + RecordValue(record, "pid") + " on " + RecordValue(record, "host");
  return error;
}

}  // namespace tallele
