package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"sync"
)

type command struct {
	Do, Request, Method, Target, BodyBase64 string
	Now, StoreNow, StoreSince               *float64
	StoreEntriesMax                         int
	Verifier, JWKS                          json.RawMessage
	RawHeaders                              []string
	Requests                                []command
	URL                                     string
	Roots                                   []json.RawMessage
	Answers                                 []keySetAnswer
}

// keySetAnswer is an answer to a request for a rooted key set.
type keySetAnswer struct {
	BodyBase64, Statement *string
	Now                   int64
}

type options struct {
	InternID              string
	MaxAgeSeconds         float64
	ClockToleranceSeconds float64
	AcceptV1              bool
	ContentType           string
}

type answer struct {
	Verdict    string   `json:"verdict"`
	Proof      *Proof   `json:"proof,omitempty"`
	RetryAfter int      `json:"retryAfterSeconds,omitempty"`
	Verdicts   []answer `json:"verdicts,omitempty"`
	Name       string   `json:"name,omitempty"`
	Features   []string `json:"features,omitempty"`
}

// losable wraps a memory store that can be replaced by an empty one.
type losable struct {
	*MemoryStore
	attached []Config
	capacity int
}

func (l *losable) Attach(c Config) {
	l.attached = append(l.attached, c)
	l.MemoryStore.Attach(c)
}

func (l *losable) lose(clock func() float64) {
	l.MemoryStore = NewMemoryStore(clock)
	if l.capacity > 0 {
		l.MemoryStore.Capacity = l.capacity
	}
	for _, c := range l.attached {
		l.MemoryStore.Attach(c)
	}
}

type session struct {
	now, storeNow float64
	keys          []Key
	store         *losable
	verifier      *Verifier
	begun         map[string]*OpenProof
}

var errRefused = errors.New("refused")

// conform answers one command per line (test/conformance/README.md).
func conform() {
	s := &session{store: &losable{}, begun: map[string]*OpenProof{}}
	lines := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var c command
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		if c.Do == "rooted" {
			_ = output.Encode(judgeAll(c))
			continue
		}
		_ = output.Encode(s.answer(c))
	}
}

func judgeAll(c command) map[string]any {
	set, err := NewRootedSet(c.URL, c.Roots)
	if err != nil {
		return map[string]any{"verdict": "refused"}
	}
	verdicts, untils := []string{}, []int64{}
	for _, each := range c.Answers {
		var body []byte
		if each.BodyBase64 != nil {
			body = latin(*each.BodyBase64)
		}
		verdict := "ok"
		_, until, err := set.Judge(body, each.Statement, each.Now)
		if err != nil {
			verdict = err.Error()
		}
		verdicts, untils = append(verdicts, verdict), append(untils, until)
	}
	return map[string]any{"verdict": "done", "verdicts": verdicts, "untils": untils}
}

func (s *session) answer(c command) answer {
	if c.Now == nil {
		c.Now = c.StoreSince
	}
	if c.Now != nil {
		s.now, s.storeNow = *c.Now, *c.Now
	}
	if c.StoreNow != nil {
		s.storeNow = *c.StoreNow
	}
	switch c.Do {
	case "hello":
		return answer{Verdict: "ready", Name: "Go port", Features: []string{"store-clock", "interns", "store-limit"}}
	case "start":
		s.store.attached, s.store.capacity, s.begun = nil, c.StoreEntriesMax, map[string]*OpenProof{}
		s.store.lose(s.storeClock)
		if s.setKeys(c.JWKS) != nil {
			return answer{Verdict: "refused"}
		}
		return s.done(s.use(c.Verifier))
	case "keys":
		return s.done(s.setKeys(c.JWKS))
	case "verifier":
		return s.done(s.use(c.Verifier))
	case "restart":
		s.store.lose(s.storeClock)
	case "present":
		return s.present(c)
	case "race":
		return answer{Verdict: "done", Verdicts: s.race(c.Requests)}
	case "begin":
		proof, err := s.begin(c)
		s.begun[c.Request] = proof
		return verdictOf("continue", nil, err)
	case "body":
		s.begun[c.Request].Digest.Write(latin(c.BodyBase64))
		return answer{Verdict: "continue"}
	case "finish":
		return finish(s.begun[c.Request], c)
	}
	return answer{Verdict: "done"}
}

func (s *session) storeClock() float64 { return s.storeNow }

func (s *session) done(err error) answer {
	if err != nil {
		return answer{Verdict: "refused"}
	}
	return answer{Verdict: "done"}
}

func (s *session) setKeys(jwks json.RawMessage) error {
	keys, err := ReadKeySet(jwks)
	if err == nil {
		s.keys = keys
	}
	return err
}

func (s *session) use(given json.RawMessage) error {
	o := options{MaxAgeSeconds: 60, ClockToleranceSeconds: 2, ContentType: "application/json"}
	if json.Unmarshal(given, &o) != nil {
		return errRefused
	}
	config := Config{o.InternID, o.MaxAgeSeconds, o.ClockToleranceSeconds, o.AcceptV1, o.ContentType}
	if !config.IsUsable() {
		return errRefused
	}
	s.verifier = &Verifier{
		Config: config,
		Keys:   func(bool) ([]Key, error) { return s.keys, nil },
		Store:  s.store,
		Clock:  func() float64 { return s.now },
	}
	s.store.Attach(config)
	return nil
}

func (s *session) begin(c command) (*OpenProof, error) {
	var list []Header
	for i := 0; i+1 < len(c.RawHeaders); i += 2 {
		list = append(list, Header{bytesOf(c.RawHeaders[i]), bytesOf(c.RawHeaders[i+1])})
	}
	return s.verifier.Begin(c.Method, bytesOf(c.Target), list)
}

func (s *session) present(c command) answer {
	proof, err := s.begin(c)
	if err != nil {
		return verdictOf("", nil, err)
	}
	return finish(proof, c)
}

func (s *session) race(requests []command) []answer {
	answers := make([]answer, len(requests))
	var group sync.WaitGroup
	for i := range requests {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			answers[i] = s.present(requests[i])
		}(i)
	}
	group.Wait()
	return answers
}

func finish(proof *OpenProof, c command) answer {
	proof.Digest.Write(latin(c.BodyBase64))
	accepted, err := proof.Finish()
	return verdictOf("ok", accepted, err)
}

func verdictOf(verdict string, proof *Proof, err error) answer {
	var refused *Refused
	if errors.As(err, &refused) {
		return answer{Verdict: refused.Code, RetryAfter: refused.RetryAfter}
	}
	return answer{Verdict: verdict, Proof: proof}
}

func latin(text string) []byte {
	body, _ := base64.StdEncoding.DecodeString(text)
	return body
}

// bytesOf converts a string of characters U+0000 to U+00FF to bytes, one per character.
func bytesOf(text string) string {
	var bytes []byte
	for _, character := range text {
		bytes = append(bytes, byte(character))
	}
	return string(bytes)
}
