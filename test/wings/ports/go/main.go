package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const bodyBytesMax = 1_000_000

// A daemon that replies with its caller: oriproof INTERN_ID JWKS_URL [ADDRESS [ROOT_JWK…]]
func main() {
	if len(os.Args) == 2 && os.Args[1] == "conform" {
		conform()
		return
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: oriproof INTERN_ID JWKS_URL [ADDRESS [ROOT_JWK…]]")
		os.Exit(64)
	}
	clock := func() float64 { return float64(time.Now().UnixMicro()) / 1e6 }
	config := Config{os.Args[1], 60, 2, false, "application/json"}
	remote := &remoteKeys{url: os.Args[2]}
	if !config.IsUsable() || !safeURL.MatchString(remote.url) {
		fmt.Fprintln(os.Stderr, "expected an intern id and an https address")
		os.Exit(64)
	}
	if len(os.Args) > 4 {
		var roots []json.RawMessage
		for _, root := range os.Args[4:] {
			roots = append(roots, json.RawMessage(root))
		}
		rooted, err := NewRootedSet(remote.url, roots)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(64)
		}
		remote.rooted = rooted
	}
	verifier := &Verifier{Config: config, Keys: remote.keys, Store: NewMemoryStore(clock), Clock: clock}
	verifier.Store.Attach(config)
	listener, err := net.Listen("tcp", append(os.Args, "127.0.0.1:8081")[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("http://" + listener.Addr().String())
	server := &http.Server{Handler: requireProof(verifier), ReadTimeout: 30 * time.Second}
	fmt.Fprintln(os.Stderr, server.Serve(listener))
}

func requireProof(v *Verifier) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		proof, body, err := prove(v, w, r)
		if err != nil {
			writeRefusal(w, err)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"user": proof.User, "bytes": len(body)})
	}
}

// prove uses r.RequestURI, the request-target as received; r.URL.Path is decoded. r.Header keeps every value.
func prove(v *Verifier, w http.ResponseWriter, r *http.Request) (*Proof, []byte, error) {
	var list []Header
	for name, values := range r.Header {
		for _, value := range values {
			list = append(list, Header{name, value})
		}
	}
	open, err := v.Begin(r.Method, r.RequestURI, list)
	if err != nil {
		return nil, nil, err
	}
	if r.ContentLength > bodyBytesMax {
		return nil, nil, refuse("body_too_large")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
	if len(body) == bodyBytesMax && err != nil {
		return nil, nil, refuse("body_too_large")
	}
	if err != nil {
		return nil, nil, refuse("body_incomplete")
	}
	open.Digest.Write(body)
	proof, err := open.Finish()
	return proof, body, err
}

func writeRefusal(w http.ResponseWriter, err error) {
	var refused *Refused
	if !errors.As(err, &refused) {
		refused = refuse("keys_unavailable")
	}
	status := http.StatusUnauthorized
	switch refused.Code {
	case "answers_not_kept":
		status = http.StatusNotFound
	case "body_too_large":
		status = http.StatusRequestEntityTooLarge
	case "body_incomplete":
		status = http.StatusBadRequest
	case "keys_unavailable", "replay_store_full", "replay_store_unavailable", "replay_store_unsafe":
		status = http.StatusServiceUnavailable
	default:
		w.Header().Set("WWW-Authenticate", "Ori-Proof")
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refused.RetryAfter))
	}
	told := map[string]string{"code": refused.Code, "message": "The proof was not accepted."}
	writeJSON(w, status, map[string]any{"error": told})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

var safeURL = regexp.MustCompile(`^(?:https://|http://(?:127\.0\.0\.1|localhost|\[::1\])[:/])`)

// remoteKeys implements K14 to K18: fresh for 60 s, stale for 600 s more, one fetch per 10 s, no redirects. With a rooted
// set, only what a root vouches for is taken, and not used after its end.
type remoteKeys struct {
	url            string
	mutex          sync.Mutex
	held           []Key
	fresh          time.Duration
	fetched, tried time.Time
	rooted         *RootedSet
	ends           time.Time
	// Closed at the end of the fetch in progress; nil if there is none.
	fetching chan struct{}
}

func (r *remoteKeys) keys(renew bool) ([]Key, error) {
	r.mutex.Lock()
	now := time.Now()
	wanted := renew || now.Sub(r.fetched) >= r.fresh
	if wanted && r.fetching == nil && now.Sub(r.tried) >= 10*time.Second {
		r.fetching = make(chan struct{})
		go r.renew(now)
	}
	fetching := r.fetching
	r.mutex.Unlock()
	// Who has keys does not wait for those of others.
	if wanted && fetching != nil {
		<-fetching
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now = time.Now()
	if now.Sub(r.fetched) >= r.fresh+600*time.Second || (r.rooted != nil && !now.Before(r.ends)) {
		return nil, refuse("keys_unavailable")
	}
	return r.held, nil
}

func (r *remoteKeys) renew(now time.Time) {
	keys, fresh, ends, err := r.fetch()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err == nil {
		r.held, r.fresh, r.ends, r.fetched = keys, fresh, ends, now
	}
	r.tried = time.Now()
	close(r.fetching)
	r.fetching = nil
}

func (r *remoteKeys) fetch() (keys []Key, fresh time.Duration, ends time.Time, err error) {
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Timeout: 2 * time.Second, CheckRedirect: stop}
	response, err := client.Get(r.url)
	if err != nil {
		return nil, 0, ends, err
	}
	defer response.Body.Close()
	document, err := io.ReadAll(io.LimitReader(response.Body, 65537))
	if err != nil || response.StatusCode != http.StatusOK || len(document) > 65536 || !utf8.Valid(document) {
		return nil, 0, ends, errSet
	}
	if r.rooted == nil {
		keys, err = ReadKeySet(document)
	} else {
		var until int64
		now, stated := time.Now(), response.Header.Values("x-ori-key-set")
		header := strings.Join(stated, ", ")
		given := &header
		if len(stated) == 0 {
			given = nil
		}
		keys, until, err = r.rooted.Judge(document, given, now.UnixMilli())
		ends = now.Add(time.Duration(until-now.UnixMilli()) * time.Millisecond)
	}
	return keys, freshFor(response.Header), ends, err
}

var (
	noStore = regexp.MustCompile(`\bno-(?:store|cache)\b`)
	maxAge  = regexp.MustCompile(`(?:^|[ ,])max-age="?(\d{1,9})`)
)

// freshFor returns max-age minus Age, from 10 to 60 s (K16).
func freshFor(header http.Header) time.Duration {
	control := strings.ToLower(strings.Join(header.Values("Cache-Control"), ", "))
	if noStore.MatchString(control) {
		return 10 * time.Second
	}
	left := 60
	if found := maxAge.FindStringSubmatch(control); found != nil {
		age, _ := strconv.Atoi(header.Get("Age"))
		left, _ = strconv.Atoi(found[1])
		left -= age
	}
	return time.Duration(math.Min(60, math.Max(10, float64(left)))) * time.Second
}
