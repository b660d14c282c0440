package main

import (
	"math"
	"sync"
)

// bodySeconds is the maximum time for a body to arrive.
const bodySeconds = 30

// Refused is the error for a proof that is not accepted. Code is one of SPEC.md, section 5.
type Refused struct {
	Code       string
	RetryAfter int
}

func (r *Refused) Error() string { return r.Code }

func refuse(code string) *Refused { return &Refused{Code: code} }

// MemoryStore remembers spent proofs in this process. A restart sets a fence.
type MemoryStore struct {
	Clock     func() float64
	Capacity  int
	mutex     sync.Mutex
	fence     float64
	spent     map[string]int64
	highest   int64
	marksFrom *int64
	floor     int64
	forgotten float64
}

// NewMemoryStore returns an empty store whose fence is now.
func NewMemoryStore(clock func() float64) *MemoryStore {
	return &MemoryStore{Clock: clock, Capacity: 100_000, fence: clock(), spent: map[string]int64{}, floor: -1, highest: -1}
}

// Attach registers a verifier that will use the store.
func (s *MemoryStore) Attach(c Config) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if c.AcceptV1 && s.marksFrom == nil {
		from := s.highest
		s.marksFrom = &from
	}
}

// Spend spends a proof: N1 to N9 and O1 to O8. An empty nonce means a version 1 proof.
func (s *MemoryStore) Spend(c Config, timestamp int64, nonce, v1ID string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now, at := s.Clock(), float64(timestamp)
	if at > now+c.Tolerance {
		return refuse("proof_not_yet_valid")
	}
	horizon := math.Floor(now - c.MaxAge - c.Tolerance - bodySeconds)
	s.forget(horizon)
	if at <= horizon || timestamp <= s.floor {
		return refuse("proof_expired")
	}
	fence := math.Ceil(s.fence + c.Tolerance)
	intern := c.InternID + " "
	conflicting, recorded := []string{intern + "2" + nonce, intern + "1" + v1ID}, []string{intern + "2" + nonce}
	if nonce == "" {
		fence = math.Max(fence, float64(*s.marksFrom))
		conflicting, recorded = []string{intern + "1" + v1ID, intern + "m" + v1ID}, []string{intern + "1" + v1ID}
	} else if s.marksFrom != nil {
		recorded = append(recorded, intern+"m"+v1ID)
	}
	if at <= fence {
		return &Refused{"proof_before_fence", int(math.Max(1, math.Ceil(fence+1-now)))}
	}
	for _, id := range conflicting {
		if _, found := s.spent[id]; found {
			return refuse("nonce_replayed")
		}
	}
	if len(s.spent)+len(recorded) > s.Capacity {
		return refuse("replay_store_full")
	}
	for _, id := range recorded {
		s.spent[id] = timestamp
	}
	if timestamp > s.highest {
		s.highest = timestamp
	}
	return nil
}

// forget removes what is too old for the verifier that asks. Nothing up to the floor is accepted afterwards (N3).
func (s *MemoryStore) forget(horizon float64) {
	if horizon == s.forgotten {
		return
	}
	s.forgotten = horizon
	for id, timestamp := range s.spent {
		if float64(timestamp) <= horizon {
			s.floor = int64(math.Max(float64(s.floor), float64(timestamp)))
			delete(s.spent, id)
		}
	}
}
