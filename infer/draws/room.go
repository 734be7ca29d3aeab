package draws

import (
	"fmt"
	"math"
)

// Room limits the memory for reading draws, in bytes. The files of one run share it. A nil Room has
// no limit.
type Room struct {
	Limit int64
	taken int64
}

// RoomError says that reading draws would exceed the [Room].
type RoomError struct {
	Asked, Left, Limit int64 // bytes
}

// Error implements error.
func (e *RoomError) Error() string {
	const mb = 1e6
	return fmt.Sprintf("to read the draws takes %.3g MB more memory, but %.3g of %.3g MB are left; allow for more memory", float64(e.Asked)/mb, float64(e.Left)/mb, float64(e.Limit)/mb)
}

// Take reserves n pieces of the given size in bytes. If they do not fit, it reserves nothing and
// returns a *[RoomError].
func (r *Room) Take(n, bytes int) error {
	if r == nil {
		return nil
	}
	asked := int64(math.MaxInt64)
	if int64(n) <= asked/int64(max(bytes, 1)) {
		asked = int64(n) * int64(bytes)
	}
	if left := r.Limit - r.taken; asked > left {
		return &RoomError{Asked: asked, Left: left, Limit: r.Limit}
	}
	r.taken += asked
	return nil
}

// Give releases bytes that Take reserved.
func (r *Room) Give(bytes int) {
	if r != nil {
		r.taken -= int64(bytes)
	}
}
