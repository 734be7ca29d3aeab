package serve

import "golang.org/x/sys/unix"

// architecture is the kernel's name of this architecture in filters; 0: not supported.
const architecture = unix.AUDIT_ARCH_X86_64
