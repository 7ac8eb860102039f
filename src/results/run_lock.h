#ifndef TALLELE_RESULTS_RUN_LOCK_H_
#define TALLELE_RESULTS_RUN_LOCK_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"

namespace tallele {

// Which machine a process runs on: the boot identifier tells machines (and boots of one) apart,
// containers of one machine share it. The host name is for messages.
struct MachineIdentity {
  std::string boot;
  std::string host;
};
MachineIdentity ThisMachine();

// Keeps a second run out of a run folder.
//
// Two things together, since neither is enough on a network file system:
//  - A kernel lock (open file description lock) on `.lock`. The kernel drops it when the process
//    ends in any way, so a crash leaves nothing to clean up.
//  - A record inside the file: machine, process and a random token, touched every ten seconds.
//  Where
//    the file system does not carry kernel locks to other machines, a record of another machine
//    keeps us out until it has not been touched for a minute. Ages are taken from the clock that
//    stamps files in that folder, not from the clocks of two machines.
// `Confirm` stands before every commit: whoever lost the folder (a machine that slept for longer
// than a minute) finds another token there and ends without publishing.
class RunLock {
 public:
  // `folder` must exist. Errors (kUsage): another run holds it, or held it on another machine less
  // than a minute ago. kIo: the file cannot be made.
  static Result<std::unique_ptr<RunLock>> Take(const std::string& folder,
                                               const MachineIdentity& machine = ThisMachine());
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // An error if the lock file is gone or names another run.
  Result<void> Confirm() const;

 private:
  RunLock(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  Result<void> WriteRecord(const std::string& text) const;
  void KeepFresh();

  int descriptor_;
  std::string path_;
  std::string token_;  // the record that we wrote; empty: none yet
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread heartbeat_;
};

}  // namespace tallele

#endif  // TALLELE_RESULTS_RUN_LOCK_H_
