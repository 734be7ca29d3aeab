// Command studyqueue simulates the queue of a study over NATS: how long a million fits take on a
// thousand processors, and why further processors do not help. It prints the table in
// doc/evidence/scale.md.
//
//	go run ./internal/cmd/studyqueue
//
// The program `ppl study` and the server are modelled as one processor each, which does one thing
// after another, in the measured time. Each worker has a running fit and, as ppl-nats does if fits
// are quick, one that waits. The time of a fit is lognormal. Workers die at random, and their fits
// are given to others after half a minute without a message.
package main

import (
	"container/heap"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
)

// costs are processor seconds per fit.
type costs struct {
	study  float64 // in `ppl study` or ppl-nats run, whichever takes longer
	server float64
	hop    float64 // time of a message on the network, one way
}

// situation describes one simulation.
type situation struct {
	fits, workers int
	mean, sigma   float64 // mean time of a fit, and standard deviation of its logarithm
	life          float64 // mean life of a worker in seconds; 0: for ever
	costs
}

// The limits of ppl study and ppl-nats.
const (
	window  = 4000
	ackWait = 30
)

// event is something that happens at a time.
type event struct {
	at   float64
	kind int
	who  int // worker
}

const (
	publishing = iota // a unit arrives at the server
	published         // it is in the queue
	delivered         // a unit has arrived at a worker
	fitted            // a worker has finished its fit
	storing           // the result arrives at the server
	counting          // a result is sent on to ppl study
	counted           // a result is in the journal
	died              // a worker has died; another replaces it
	again             // a unit of a worker that died is in the queue again
)

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// worker is the state of a worker.
type worker struct {
	waiting int // units that have arrived but are not begun
	coming  int // units on their way
	running bool
	ends    float64 // end of the current fit; events with another time are stale
}

// simulate returns the time in seconds, and the shares of the time in which workers, the server and
// ppl study are busy.
func simulate(s situation, rng *rand.Rand) (seconds, workers, server, study float64) {
	all := make([]worker, s.workers)
	var queue events
	studyFree, serverFree := 0.0, 0.0
	busyWorkers, busyServer, busyStudy := 0.0, 0.0, 0.0
	at := func(free *float64, busy *float64, now, cost float64) float64 {
		*free = max(*free, now) + cost
		*busy += cost
		return *free
	}
	push := func(t float64, kind, who int) { heap.Push(&queue, event{t, kind, who}) }
	made, outstanding, queued, done := 0, 0, 0, 0
	feed := func(now float64) {
		for made < s.fits && outstanding < window {
			made++
			outstanding++
			t := at(&studyFree, &busyStudy, now, s.study/2)
			push(t+s.hop, publishing, 0)
		}
	}
	idle := make([]int, 0, s.workers) // indices of workers that can take units, once for each unit
	take := func(now float64) {
		for queued > 0 && len(idle) > 0 {
			i := idle[len(idle)-1]
			idle = idle[:len(idle)-1]
			queued--
			all[i].coming++
			push(at(&serverFree, &busyServer, now, s.server/3)+s.hop, delivered, i)
		}
	}
	begin := func(now float64, i int) {
		w := &all[i]
		if w.running || w.waiting == 0 {
			return
		}
		w.waiting--
		w.running = true
		length := s.mean * math.Exp(s.sigma*rng.NormFloat64()-s.sigma*s.sigma/2)
		w.ends = now + length
		push(w.ends, fitted, i)
	}
	for i := range all {
		idle = append(idle, i)
		if s.mean < 0.5 {
			idle = append(idle, i)
		}
		if s.life > 0 {
			push(s.life*rng.ExpFloat64(), died, i)
		}
	}
	rng.Shuffle(len(idle), func(i, j int) { idle[i], idle[j] = idle[j], idle[i] })
	feed(0)
	now := 0.0
	for done < s.fits {
		e := heap.Pop(&queue).(event)
		now = e.at
		w := &all[e.who]
		switch e.kind {
		case publishing:
			push(at(&serverFree, &busyServer, now, s.server/3), published, 0)
		case storing:
			push(at(&serverFree, &busyServer, now, s.server/3)+s.hop, counting, 0)
		case counting:
			push(at(&studyFree, &busyStudy, now, s.study/2), counted, 0)
		case published, again:
			queued++
		case delivered:
			w.coming--
			w.waiting++
			begin(now, e.who)
		case fitted:
			if !w.running || w.ends != now {
				continue // the worker has died meanwhile
			}
			busyWorkers += s.mean
			w.running = false
			idle = append(idle, e.who)
			push(now+s.hop, storing, 0)
			begin(now, e.who)
		case counted:
			done++
			outstanding--
			feed(now)
		case died:
			lost := w.waiting
			if w.running {
				lost++
			}
			for range lost {
				push(now+ackWait, again, 0)
				idle = append(idle, e.who)
			}
			w.waiting, w.running = 0, false
			push(now+s.life*rng.ExpFloat64(), died, e.who)
		}
		take(now)
	}
	return now, busyWorkers / now / float64(s.workers), busyServer / now, busyStudy / now
}

func main() {
	c := costs{}
	fits := flag.Int("fits", 1_000_000, "number of fits")
	flag.Float64Var(&c.study, "study", 0.29e-3, "seconds of ppl study per fit")
	flag.Float64Var(&c.server, "server", 0.5e-3, "seconds of the server per fit")
	flag.Float64Var(&c.hop, "hop", 0.5e-3, "seconds of a message on the network")
	flag.Parse()
	fmt.Println("| a fit takes | processors | workers live | all take | at best | workers busy | server busy | `ppl study` busy |")
	fmt.Println("|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, workers := range []int{100, 1000} {
		for _, mean := range []float64{0.045, 0.5, 5} {
			for _, life := range []float64{0, 3600} {
				s := situation{fits: *fits, workers: workers, mean: mean, sigma: 0.5, life: life, costs: c}
				t, w, server, study := simulate(s, rand.New(rand.NewPCG(1, 2)))
				text := "for ever"
				if life > 0 {
					text = "an hour"
				}
				fmt.Printf("| %v s | %d | %s | %.0f s | %.0f s | %.0f %% | %.0f %% | %.0f %% |\n", mean, workers, text, t, float64(*fits)*mean/float64(workers), 100*w, 100*server, 100*study)
			}
		}
	}
}
