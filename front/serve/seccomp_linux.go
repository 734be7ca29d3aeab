package serve

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// condition is a condition on the low 32 bits of an argument of a system call:
// argument & mask == value.
type condition struct {
	argument    int
	mask, value uint32
}

// call is a system call that processes may make, if its conditions hold.
type call struct {
	number     uint32
	conditions []condition
}

const all = ^uint32(0)

// The flags of a thread, which shares everything with its process. A clone without them is a fork.
// Other flags create namespaces, or handles of processes.
const (
	threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD
	threadMore  = unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | unix.CLONE_DETACHED
)

// allowed lists the system calls that a process needs between its start and its answer: those of
// Go's runtime, those of the C library for threads (in builds with C), and those for the executable
// memory of the compiler. pid is the process's id.
func allowed(pid int) []call {
	own := []condition{{0, all, uint32(pid)}}
	list := []call{
		{unix.SYS_CLONE, []condition{{0, threadFlags, threadFlags}, {0, ^uint32(threadFlags | threadMore), 0}}},
		{unix.SYS_TGKILL, own},
		{unix.SYS_KILL, own},
		{unix.SYS_PRCTL, []condition{{0, all, unix.PR_SET_VMA}}}, // the runtime names memory areas
		// To lower its own limits once more; sealed denies it afterwards.
		{unix.SYS_PRLIMIT64, []condition{{0, all, 0}}},
		{unix.SYS_SECCOMP, nil}, // a second filter can only deny more
	}
	for _, number := range []uint32{
		// The open pipes; nothing else can be opened.
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_PREAD64,
		unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT,
		// Memory.
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_BRK, unix.SYS_MINCORE,
		// Threads.
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETTID, unix.SYS_GETPID,
		unix.SYS_RSEQ, unix.SYS_SET_ROBUST_LIST, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL,
		// Signals to its own threads.
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		// Time, and random numbers.
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRUSAGE, unix.SYS_GETRANDOM,
	} {
		list = append(list, call{number, nil})
	}
	return list
}

// x32 marks calls of amd64's x32 interface, which reports the same architecture.
const x32 = 0x40000000

// filter returns the BPF program that allows the calls and denies all others with EPERM. It returns
// nil if the architecture is not supported.
func filter(calls []call) []unix.SockFilter {
	if architecture == 0 {
		return nil
	}
	f := begin()
	for _, c := range calls {
		var block []unix.SockFilter
		for i, cond := range c.conditions {
			left := len(c.conditions) - i - 1 // conditions after this one
			block = append(block, load(argumentAt(cond.argument)))
			block = append(block, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: cond.mask})
			// If the condition is false, skip the remaining conditions and the answer, to the
			// denial.
			block = append(block, unless(cond.value, uint8(3*left+1)))
		}
		block = append(block, answerCall(unix.SECCOMP_RET_ALLOW))
		if len(c.conditions) > 0 {
			block = append(block, deny(unix.EPERM))
		}
		f = append(f, unless(c.number, uint8(len(block))))
		f = append(f, block...)
	}
	// The C library starts threads with clone3, whose flags a filter cannot see. If clone3 does not
	// exist, it uses clone.
	f = append(f, unless(unix.SYS_CLONE3, 1), deny(unix.ENOSYS), deny(unix.EPERM))
	return f
}

// sealed returns the filter that denies the calls that only [Call.Lower] needs.
func sealed() []unix.SockFilter {
	if architecture == 0 {
		return nil
	}
	f := begin()
	for _, number := range []uint32{unix.SYS_PRLIMIT64, unix.SYS_SECCOMP} {
		f = append(f, unless(number, 1), deny(unix.EPERM))
	}
	return append(f, answerCall(unix.SECCOMP_RET_ALLOW))
}

// begin checks the architecture, and loads the number of the system call.
func begin() []unix.SockFilter {
	var d seccompData
	return []unix.SockFilter{
		load(uint32(unsafe.Offsetof(d.architecture))),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: architecture, Jt: 1},
		answerCall(unix.SECCOMP_RET_KILL_PROCESS),
		load(uint32(unsafe.Offsetof(d.number))),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1},
		answerCall(unix.SECCOMP_RET_KILL_PROCESS),
	}
}

// seccompData is the input of a filter: a system call.
type seccompData struct {
	number       uint32
	architecture uint32
	_            uint64 // where the call is made
	arguments    [6]uint64
}

// argumentAt returns the offset of the low half of an argument, which comes first on little-endian
// machines, the only ones supported.
func argumentAt(i int) uint32 {
	return uint32(unsafe.Offsetof(seccompData{}.arguments) + 8*uintptr(i))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// unless skips instructions if the loaded value differs from value.
func unless(value uint32, skip uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
}

func answerCall(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func deny(errno unix.Errno) unix.SockFilter {
	return answerCall(unix.SECCOMP_RET_ERRNO | uint32(errno))
}
