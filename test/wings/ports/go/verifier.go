// Command oriproof verifies daemon proofs, with only Go's standard library. The rules and their ids (V17, K5, …) are
// those of libs/public/proof/SPEC.md. A string holds bytes, not characters.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Config is a verifier's configuration, ages in whole seconds.
type Config struct {
	InternID          string
	MaxAge, Tolerance float64
	AcceptV1          bool
	ContentType       string
}

// Verifier verifies requests. Keys returns the admitted keys; if asked to renew, it may fetch newer ones.
type Verifier struct {
	Config
	Keys  func(renew bool) ([]Key, error)
	Store interface {
		Attach(Config)
		Spend(c Config, timestamp int64, nonce, v1ID string) error
	}
	Clock func() float64
}

// Header is one field of a header list.
type Header struct{ Name, Value string }

// Proof identifies the caller.
type Proof struct {
	User     string `json:"user"`
	InternID string `json:"internId"`
	Version  int    `json:"version"`
	IssuedAt int64  `json:"issuedAt"`
	Nonce    string `json:"nonce,omitempty"`
}

// No pattern here ignores case: Go's (?i) also folds letters outside ASCII. Such values are lowered first.
const token = "[a-z0-9!#$%&'*+.^_`|~-]+"

var (
	capital     = regexp.MustCompile(`[A-Z]`)
	internID    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	signature   = regexp.MustCompile(`^[A-Za-z0-9+/]{85}[AQgw]==$`)
	path        = regexp.MustCompile(`^/[\x21\x22\x24-\x3e\x40-\x7e]*$`)
	mediaType   = regexp.MustCompile("^" + token + "/" + token + "$")
	contentType = regexp.MustCompile("^[ \t]*(" + token + "/" + token + ")(?:[ \t]*;[ \t]*charset=(?:utf-8|\"utf-8\"))?[ \t]*$")
	alphabets   = map[string]*regexp.Regexp{
		"x-ori-invoke-signature":    signature,
		"x-ori-invoke-timestamp":    regexp.MustCompile(`^(?:0|[1-9][0-9]{0,11})$`),
		"x-ori-invoke-user":         regexp.MustCompile(`^[\x21-\x2b\x2d-\x7e]{1,255}$`),
		"x-ori-invoke-signature-v2": signature,
		"x-ori-invoke-nonce":        regexp.MustCompile(`^[A-Za-z0-9_-]{21}[AQgw]$`),
	}
)

// IsUsable reports whether the configuration is valid.
func (c Config) IsUsable() bool {
	isTimed := c.MaxAge >= 1 && c.MaxAge <= 600 && c.Tolerance >= 0 && c.Tolerance <= 60
	isWhole := c.MaxAge == math.Floor(c.MaxAge) && c.Tolerance == math.Floor(c.Tolerance)
	isType := mediaType.MatchString(c.ContentType) && !strings.HasPrefix(c.ContentType, "multipart/")
	return isTimed && isWhole && isType && internID.MatchString(c.InternID)
}

// OpenProof is the result of a head that passed. Write the body to Digest, then call Finish once.
type OpenProof struct {
	Digest   hash.Hash
	verifier *Verifier
	header   map[string]string
	target   string
	judgedAt float64
}

// Begin performs steps 1 to 4 on a head as received.
func (v *Verifier) Begin(method, target string, list []Header) (*OpenProof, error) {
	now := v.Clock()
	header, times := map[string]string{}, map[string]int{}
	isPlain := true
	for _, line := range list {
		name := lower(line.Name)
		header[name] = line.Value
		times[name]++
		isPlain = isPlain && (name != "content-encoding" || strings.Trim(lower(line.Value), " \t") == "identity")
	}
	if times["x-ori-invoke-signature"]*times["x-ori-invoke-timestamp"]*times["x-ori-invoke-user"] == 0 {
		return nil, refuse("proof_missing")
	}
	for name, alphabet := range alphabets {
		if times[name] > 1 || times[name] == 1 && !alphabet.MatchString(header[name]) {
			return nil, refuse("proof_malformed")
		}
	}
	if times["x-ori-invoke-signature-v2"] != times["x-ori-invoke-nonce"] {
		return nil, refuse("proof_malformed")
	}
	if times["x-ori-invoke-nonce"] == 0 && !v.AcceptV1 {
		return nil, refuse("proof_version_not_accepted")
	}
	typed := contentType.FindStringSubmatch(lower(header["content-type"]))
	isTyped := times["content-type"] == 1 && typed != nil && typed[1] == v.ContentType
	if method != "POST" || !path.MatchString(target) || len(target) > 2048 || !isTyped || !isPlain {
		return nil, refuse("request_not_coverable")
	}
	if strings.HasPrefix(target, questionPath) {
		return nil, refuse("answers_not_kept")
	}
	if leadsToQuestion(target) {
		return nil, refuse("request_not_coverable")
	}
	timestamp, _ := strconv.ParseFloat(header["x-ori-invoke-timestamp"], 64)
	if timestamp < now-v.MaxAge {
		return nil, refuse("proof_expired")
	}
	if timestamp > now+v.Tolerance {
		return nil, refuse("proof_not_yet_valid")
	}
	return &OpenProof{sha256.New(), v, header, target, now}, nil
}

// Finish verifies the signature and spends the proof.
func (o *OpenProof) Finish() (*Proof, error) {
	v, timestamp, user := o.verifier, o.header["x-ori-invoke-timestamp"], o.header["x-ori-invoke-user"]
	nonce, digest := o.header["x-ori-invoke-nonce"], hex.EncodeToString(o.Digest.Sum(nil))
	v1 := netstrings("ori-invoke-v1", v.InternID, timestamp, user, digest)
	signed, text, version := v1, o.header["x-ori-invoke-signature"], 1
	if nonce != "" {
		signed = netstrings("ori-invoke-v2", v.InternID, timestamp, nonce, user, "POST", o.target, digest)
		text, version = o.header["x-ori-invoke-signature-v2"], 2
	}
	at, _ := strconv.ParseInt(timestamp, 10, 64)
	bytes, _ := base64.StdEncoding.DecodeString(text)
	if err := v.requireSignature(bytes, signed, float64(at)); err != nil {
		return nil, err
	}
	if v.Clock()-o.judgedAt > bodySeconds {
		return nil, refuse("proof_expired")
	}
	id := sha256.Sum256(v1)
	if err := v.Store.Spend(v.Config, at, nonce, string(id[:])); err != nil {
		return nil, err
	}
	return &Proof{user, v.InternID, version, at, nonce}, nil
}

// requireSignature tries at most three keys, then those of a newer set.
func (v *Verifier) requireSignature(signature, signed []byte, timestamp float64) error {
	tried := 0
	for _, renew := range []bool{false, true} {
		keys, err := v.Keys(renew)
		if err != nil {
			return err
		}
		tried = 0
		for _, key := range keys {
			if tried == 3 || timestamp < key.Begins || timestamp >= key.Ends {
				continue
			}
			if tried++; key.Verifies(signature, signed) {
				return nil
			}
		}
	}
	if tried == 0 {
		return refuse("key_unknown")
	}
	return refuse("signature_invalid")
}

// lower folds only ASCII.
func lower(text string) string {
	return capital.ReplaceAllStringFunc(text, strings.ToLower)
}

func netstrings(fields ...string) []byte {
	var input []byte
	for _, field := range fields {
		input = append(input, strconv.Itoa(len(field))+":"+field+","...)
	}
	return input
}

// questionPath begins a question about an answer, which this port does not keep (V19).
const questionPath = "/.well-known/ori/calls/"

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// leadsToQuestion tells whether a server may take the path for one of a question (V20).
func leadsToQuestion(path string) bool {
	decoded := escape.ReplaceAllStringFunc(path, func(hex string) string {
		code, _ := strconv.ParseUint(hex[1:], 16, 8)
		return string([]byte{byte(code)})
	})
	segments := []string{}
	for _, segment := range strings.FieldsFunc(lower(decoded), func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." && len(segments) > 0 {
			segments = segments[:len(segments)-1]
		} else if segment != "." && segment != ".." {
			segments = append(segments, segment)
		}
	}
	return len(segments) >= 3 && "/"+strings.Join(segments[:3], "/")+"/" == questionPath
}
