// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Campaign.h. Parent and child share a page on which the child says what it
// is at; the parent is the watchdog.

#include "test/fuzz/Campaign.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace attn::fuzz;

namespace {
struct Page {
  std::atomic<uint64_t> current{0}; // the seed in work
  std::atomic<int64_t> since{0};    // when it was taken up
  std::atomic<uint64_t> done{0}, good{0}, runs{0};
  std::atomic<int64_t> longest{0};
  std::atomic<uint64_t> longestSeed{0};
  char wrong[8192] = {}; // what a child that ends with `foundWrong` says
};

/// What a child exits with that found something wrong with its seed.
constexpr int foundWrong = 66;

struct Child {
  pid_t pid = 0; // 0: idle
  uint64_t end = 0;
  Page *page = nullptr;
};

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Nothing a mutant asks for may take the machine down.
void limitMemory() {
#if !__has_feature(address_sanitizer) // which maps terabytes
  rlimit limit{rlim_t(12) << 30, rlim_t(12) << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

[[noreturn]] void runChild(const Campaign &campaign, Page &page, uint64_t begin,
                           uint64_t end) {
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  limitMemory();
  campaign.prepare();
  for (uint64_t seed = begin; seed < end; ++seed) {
    page.current = seed;
    int64_t start = nanoseconds();
    page.since = start;
    bool isGood = true;
    if (campaign.judge) {
      Verdict verdict = campaign.judge(seed);
      page.runs += verdict.runs;
      isGood = verdict.wrong.empty();
      if (!isGood) {
        verdict.wrong.copy(page.wrong, sizeof page.wrong - 1);
        _exit(foundWrong);
      }
    } else {
      isGood = campaign.consume(seed);
    }
    if (isGood)
      ++page.good;
    ++page.done;
    int64_t taken = nanoseconds() - start;
    if (taken > page.longest) {
      page.longest = taken;
      page.longestSeed = seed;
    }
  }
  page.current = end;
  _exit(0);
}

void start(const Campaign &campaign, Child &child, uint64_t begin,
           uint64_t end) {
  child.end = end;
  child.page->current = begin;
  child.page->since = nanoseconds();
  child.pid = fork();
  if (child.pid == 0)
    runChild(campaign, *child.page, begin, end);
}

/// Why a child ended; what it says itself is taken out of its page.
std::string describe(int status, Page &page) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == foundWrong &&
      page.wrong[0] != 0) {
    std::string wrong = page.wrong;
    std::memset(page.wrong, 0, sizeof page.wrong);
    return wrong;
  }
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}
} // namespace

Outcome attn::fuzz::run(const Campaign &campaign) {
  Outcome outcome;
  std::vector<Child> children(size_t(campaign.children));
  for (Child &child : children) {
    void *p = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
      outcome.failures.push_back({campaign.first, "no shared page"});
      return outcome;
    }
    child.page = new (p) Page;
  }

  uint64_t next = campaign.first, last = campaign.first + campaign.count;
  while (true) {
    bool busy = false;
    if (campaign.progress) {
      uint64_t done = outcome.failures.size();
      for (Child &child : children)
        done += child.page->done;
      campaign.progress(done, outcome.failures.size());
    }
    for (Child &child : children) {
      if (child.pid == 0 && next < last) {
        uint64_t end = std::min(next + campaign.perChild, last);
        start(campaign, child, next, end);
        next = end;
      }
      if (child.pid == 0)
        continue;
      busy = true;
      if (child.pid < 0) {
        outcome.failures.push_back({child.page->current, "fork failed"});
        child.pid = 0;
        continue;
      }
      int status = 0;
      bool late = double(nanoseconds() - child.page->since) * 1e-9 >
                  campaign.secondsPerSeed;
      // Ended is looked at after late: a child that just made it is not late.
      bool ended = waitpid(child.pid, &status, WNOHANG) == child.pid;
      if (!ended && late) {
        kill(child.pid, SIGKILL);
        waitpid(child.pid, &status, 0);
        ended = true;
      }
      if (!ended)
        continue;
      child.pid = 0;
      uint64_t seed = child.page->current;
      if (seed == child.end && status == 0)
        continue;
      outcome.failures.push_back(
          {seed, late ? "ran for more than " +
                            std::to_string(int(campaign.secondsPerSeed)) + " s"
                      : describe(status, *child.page)});
      if (seed + 1 < child.end)
        start(campaign, child, seed + 1, child.end);
    }
    if (!busy)
      break;
    usleep(20000);
  }

  outcome.ran = campaign.count;
  for (Child &child : children) {
    outcome.good += child.page->good;
    outcome.runs += child.page->runs;
    double longest = double(child.page->longest) * 1e-9;
    if (longest > outcome.longestSeconds) {
      outcome.longestSeconds = longest;
      outcome.longestSeed = child.page->longestSeed;
    }
    munmap(child.page, sizeof(Page));
  }
  return outcome;
}
