package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempts lists what an attacker would try after taking over a process. Each returns the kernel's
// error.
var attempts = map[string]func(server int) error{
	"open a file":            func(int) error { return opened("/proc/self/exe") },
	"open a folder":          func(int) error { return opened("/") },
	"make a file":            func(int) error { return number(unix.SYS_MKDIRAT, ^uintptr(99), text("/nowhere/at/all"), 0) },
	"look at a file":         func(int) error { var s unix.Stat_t; return unix.Stat("/", &s) },
	"open by openat2":        func(int) error { _, err := unix.Openat2(-100, "/", &unix.OpenHow{}); return err },
	"read the server's mem":  func(server int) error { return opened(fmt.Sprintf("/proc/%d/mem", server)) },
	"read the server's env":  func(server int) error { return opened(fmt.Sprintf("/proc/%d/environ", server)) },
	"socket":                 func(int) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
	"socket of files":        func(int) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"socketpair":             func(int) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"fork":                   func(int) error { return fork(uintptr(unix.SIGCHLD)) },
	"fork in shared memory":  func(int) error { return fork(uintptr(unix.CLONE_PARENT | unix.SIGCHLD)) },
	"clone3":                 func(int) error { return number(unix.SYS_CLONE3, 0, 0, 0) },
	"exec":                   func(int) error { return unix.Exec("/nowhere", []string{"x"}, nil) },
	"exec by descriptor":     func(int) error { return number(unix.SYS_EXECVEAT, ^uintptr(99), text("/nowhere"), 0) },
	"ptrace":                 func(int) error { return number(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1<<22-1, 0) },
	"process_vm_readv":       func(server int) error { return readMemory(server) },
	"process_vm_writev":      func(server int) error { return number(unix.SYS_PROCESS_VM_WRITEV, uintptr(server), 0, 0) },
	"prlimit of the server":  func(server int) error { return prlimit(server) },
	"own limits, once more":  func(int) error { return prlimit(0) },
	"signal the server":      func(server int) error { return unix.Kill(server, 0) },
	"signal its thread":      func(server int) error { return unix.Tgkill(server, server, 0) },
	"signal everybody":       func(int) error { return unix.Kill(-1<<30, 0) },
	"tkill":                  func(server int) error { return number(unix.SYS_TKILL, uintptr(server), 0, 0) },
	"queue a signal":         func(server int) error { return number(unix.SYS_RT_SIGQUEUEINFO, uintptr(server), 0, 0) },
	"handle of the server":   func(server int) error { _, err := unix.PidfdOpen(server, 0); return err },
	"signal by handle":       func(int) error { return unix.PidfdSendSignal(0, 0, nil, 0) },
	"dumpable again":         func(int) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
	"outlive the server":     func(int) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) },
	"another filter":         func(int) error { return number(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, 0) },
	"pipe":                   func(int) error { var p [2]int; return unix.Pipe2(p[:], 0) },
	"duplicate":              func(int) error { _, err := unix.Dup(1); return err },
	"fcntl":                  func(int) error { _, err := unix.FcntlInt(1, unix.F_GETOWN, 0); return err },
	"ioctl":                  func(int) error { _, err := unix.IoctlGetInt(1, unix.TIOCINQ); return err },
	"memory as a file":       func(int) error { _, err := unix.MemfdCreate("x", 0); return err },
	"io_uring":               func(int) error { return number(unix.SYS_IO_URING_SETUP, 1, 0, 0) },
	"bpf":                    func(int) error { return number(unix.SYS_BPF, 99, 0, 0) },
	"perf":                   func(int) error { return number(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0) },
	"userfaultfd":            func(int) error { return number(unix.SYS_USERFAULTFD, 99, 0, 0) },
	"keys":                   func(int) error { return number(unix.SYS_KEYCTL, 99, 0, 0) },
	"mount":                  func(int) error { return unix.Mount("", "/nowhere", "", 0, "") },
	"unshare":                func(int) error { return unix.Unshare(1 << 6) },
	"setns":                  func(int) error { return unix.Setns(99, 0) },
	"chroot":                 func(int) error { return unix.Chroot("/nowhere") },
	"user":                   func(int) error { return number(unix.SYS_SETUID, uintptr(os.Getuid()), 0, 0) },
	"priority of the server": func(server int) error { return number(unix.SYS_SETPRIORITY, 99, uintptr(server), 0) },
	"processors of another":  func(server int) error { return number(unix.SYS_SCHED_SETAFFINITY, uintptr(server), 0, 0) },
	"shared memory":          func(int) error { return number(unix.SYS_SHMGET, 0, 0, 0) },
	"message queue":          func(int) error { return number(unix.SYS_MQ_OPEN, text("/nowhere/at/all"), 0, 0) },
	"watch files":            func(int) error { _, err := unix.InotifyInit1(1 << 30); return err },
}

// number makes a system call with three arguments.
func number(trap, a, b, c uintptr) error {
	if _, _, errno := unix.Syscall(trap, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

// text returns a pointer to a string for the kernel.
func text(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

var kept []*byte // so that the garbage collector keeps them

func opened(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// fork creates a process that ends at once.
func fork(flags uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

func readMemory(pid int) error {
	b := make([]byte, 8)
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&secret[0])), Len: 8}}, 0)
	return err
}

// secret has the same address in all processes of this program.
var secret = [8]byte{1, 2, 3}

func prlimit(pid int) error {
	var now unix.Rlimit
	return unix.Prlimit(pid, unix.RLIMIT_STACK, nil, &now)
}

// climb makes all attempts, and returns the names of the errors; "" is a success.
func climb(server int) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		out[name] = ""
		if errno, ok := attempts[name](server).(unix.Errno); ok {
			out[name] = unix.ErrnoName(errno)
		}
	}
	return out
}

// older runs functions on a thread that existed before the process set its walls.
var older = make(chan func())

func init() {
	modes["climb"] = func() { printJSON(climb(os.Getppid())) }
	modes["memory"] = func() {
		server := os.Getppid()
		printJSON([]bool{opened(fmt.Sprintf("/proc/%d/mem", server)) == nil, readMemory(server) == nil, seize(server) == nil})
	}
	modes["server"] = func() { childOf(func() {}) }
	modes["hardened server"] = func() {
		childOf(func() {
			if err := Harden(); err != nil {
				panic(err)
			}
		})
	}
	modes["landlock"] = func() {
		version, err := landlock()
		printJSON(map[string]any{"version": version, "error": fmt.Sprint(err), "file": opened("/proc/self/exe") == nil, "folder": opened("/") == nil,
			"server": version < 6 || unix.Kill(os.Getppid(), 0) == nil, "trace": seize(os.Getppid()) == nil,
			"connection": version < 4 || connects()})
	}
	beforeWork = func() {
		go func() {
			runtime.LockOSThread()
			for f := range older {
				f()
			}
		}()
	}
	misdeeds["climb"] = func(_ context.Context, c *Call) (any, error) {
		if err := c.Lower(nil); err != nil {
			return nil, err
		}
		all := []map[string]string{climb(os.Getppid())}
		for _, run := range []func(func()){
			func(f func()) { older <- f },
			func(f func()) { go func() { runtime.LockOSThread(); f() }() }, // on a new thread
		} {
			done := make(chan map[string]string)
			run(func() { m := climb(os.Getppid()); done <- m })
			all = append(all, <-done)
		}
		return all, nil
	}
	// The compiler and Go's runtime must still work.
	misdeeds["useful"] = func(_ context.Context, c *Call) (any, error) {
		if err := c.Lower(nil); err != nil {
			return nil, err
		}
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err == nil {
			err = unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
		}
		if err != nil {
			return nil, err
		}
		done := make(chan bool)
		for range 20 {
			go func() {
				runtime.LockOSThread() // so that the thread ends with the goroutine
				time.Sleep(time.Millisecond)
				done <- true
			}()
		}
		for range 20 {
			<-done
		}
		runtime.GC()
		return "done", unix.Kill(os.Getpid(), unix.SIGURG)
	}
}

func seize(pid int) error { return number6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid)) }

func number6(trap, a, b uintptr) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := unix.Syscall6(trap, a, b, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// connects reports whether the kernel allows a connection attempt.
func connects() bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: 1, Addr: [4]byte{127, 0, 0, 1}}) != unix.EACCES
}

// childOf starts a process that tries to read this one's memory.
func childOf(before func()) {
	before()
	cmd := exec.Command("/proc/self/exe", "memory")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

func printJSON(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		panic(err)
	}
}

// inMode runs this program in a mode, and reads what it prints.
func inMode(t *testing.T, mode string, into any) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", mode)
	cmd.Env = []string{}
	if os.Getuid() == 0 && (mode == "server" || mode == "hardened server") {
		// Root may trace any process, so use another user.
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, text)
	}
}

// TestClimb checks that a process that was taken over can do none of the things that it could do
// without walls.
func TestClimb(t *testing.T) {
	var free map[string]string
	inMode(t, "climb", &free)
	s := testServer(t, nil)
	if !s.walls.Confined() {
		t.Skip("this system has no seccomp")
	}
	if !s.walls.Orphans {
		t.Error("the processes outlive a server that is killed")
	}
	_, answer, err := s.post(t.Context(), "climb", "", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	var walled []map[string]string
	if err := json.Unmarshal([]byte(answer), &walled); err != nil {
		t.Fatalf("%v: %s\n%s", err, answer, s.log)
	}
	differ := 0
	for name := range attempts {
		want := "EPERM"
		if name == "clone3" {
			want = "ENOSYS"
		}
		for i, w := range walled {
			if w[name] != want {
				t.Errorf("%s on thread %d: %q, not %s; without walls: %q", name, i, w[name], want, free[name])
			}
		}
		if free[name] != want {
			differ++
		}
	}
	if differ < len(attempts)*2/3 { // else this shows nothing
		t.Errorf("%d of %d attempts alone fare otherwise without walls: %v", differ, len(attempts), free)
	}
	if _, answer, err := s.post(t.Context(), "useful", "", `{}`); err != nil || answer != `"done"` {
		t.Errorf("%s, %v", answer, err)
	}
}

// TestServerMemory checks that processes of the same user cannot read the memory of a server.
func TestServerMemory(t *testing.T) {
	var got []bool
	inMode(t, "server", &got)
	if !slices.Contains(got, true) {
		t.Logf("without walls too: %v", got)
	}
	inMode(t, "hardened server", &got)
	if slices.Contains(got, true) {
		t.Errorf("a process can read its server's memory: %v", got)
	}
}

// TestLandlock checks what Landlock denies without seccomp.
func TestLandlock(t *testing.T) {
	var got map[string]any
	inMode(t, "landlock", &got)
	if got["error"] != "<nil>" {
		t.Fatal(got)
	}
	if got["version"] == 0.0 {
		t.Skip("this kernel has no Landlock, or the program has C code: CGO_ENABLED=0 go test")
	}
	if got["file"] != false || got["folder"] != false || got["trace"] != false || got["version"].(float64) >= 4 && got["connection"] != false || got["version"].(float64) >= 6 && got["server"] != false {
		t.Error(got)
	}
}
