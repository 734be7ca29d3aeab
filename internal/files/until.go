package files

import (
	"context"
	"fmt"
)

// Until runs work that cannot be cancelled, such as reading a pipe that nobody writes to, and
// returns when ctx ends at the latest. Unfinished work then continues until the program ends.
func Until[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover() // for the caller, as if it had run there
			done <- o
		}()
		o.value, o.err = do()
	}()
	select {
	case o := <-done:
		if o.panic != nil {
			panic(o.panic)
		}
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("reading was interrupted: %w", context.Cause(ctx))
	}
}
