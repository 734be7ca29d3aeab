package infer

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random numbers for one purpose of one chain. The stream is ChaCha8, a
// counter-based generator, with a 256-bit key: seed, id, a 64-bit hash (FNV-1a) of purpose, and
// counter. So streams with different arguments are independent, and it does not matter which
// goroutine draws first. For the purposes of a session, id is the chain's ID and counter is 0,
// except for "generate", where counter is the iteration. So the generated values of a draw depend
// only on seed, chain, iteration and position.
func Stream(seed uint64, id int, purpose string, counter uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(streamKey(seed, id, purpose, counter)))
}

// The purposes of the session's streams.
const (
	purposeInit       = "init"
	purposeTransition = "transition"
	purposeGenerate   = "generate"
)

func streamKey(seed uint64, id int, purpose string, counter uint64) (key [32]byte) {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(id))
	binary.LittleEndian.PutUint64(key[16:], h.Sum64())
	binary.LittleEndian.PutUint64(key[24:], counter)
	return key
}
