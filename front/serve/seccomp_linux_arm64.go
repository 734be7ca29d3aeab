package serve

import "golang.org/x/sys/unix"

// architecture is what the kernel calls this machine in filters; 0: not known here.
const architecture = unix.AUDIT_ARCH_AARCH64
