package main

import "golang.org/x/sys/windows"

// awaitParent returns when the process pid has ended.
func awaitParent(pid int) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil { // the process has already ended
		return
	}
	defer windows.CloseHandle(process)
	_, _ = windows.WaitForSingleObject(process, windows.INFINITE)
}
