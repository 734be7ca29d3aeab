package ad

import (
	"errors"
	"time"
)

// askEvery is the interval at which a caller that waits for long work checks whether to stop.
const askEvery = 20 * time.Millisecond

// Await runs f and returns its result. Meanwhile it calls stop every 20 ms; if that returns an
// error, Await returns the error at once. f then continues to its end, in memory that nothing else
// may use, and its result is lost. A panic of f is passed to the caller. A nil stop never returns
// an error.
func Await[T any](stop func() error, f func() T) (value T, stopped error) {
	if stop == nil {
		return f(), nil
	}
	type result struct {
		value   T
		failure any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.failure = recover()
			done <- r
		}()
		r.value = f()
	}()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-done:
			if r.failure != nil {
				panic(r.failure)
			}
			return r.value, nil
		case <-tick.C:
			if err := stop(); err != nil {
				ended := Leave(err)
				go func() {
					<-done
					ended()
				}()
				return value, err
			}
		}
	}
}

// Leave must be called if work goes on after an error of Env.Stop has stopped its caller. Call the
// result when that work has ended. If the error has a method of the signature Leave() func(), that
// method is called, so that whoever stopped the run can wait for the end.
func Leave(stop error) (ended func()) {
	var waits interface{ Leave() (ended func()) }
	if errors.As(stop, &waits) {
		return waits.Leave()
	}
	return func() {}
}
