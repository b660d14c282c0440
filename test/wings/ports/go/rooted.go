package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"
)

var (
	keySetURL = regexp.MustCompile(`^(.+)/interns/([A-Za-z0-9][A-Za-z0-9_-]{0,127})/daemon/jwks\.json$`)
	statement = regexp.MustCompile(`^(0|[1-9][0-9]{0,14}) ([A-Za-z0-9+/]{85}[AQgw]==)$`)
	second    = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,11})$`)
)

// RootedSet judges the answers of one URL, in order (ROOTED-KEY-SETS.md).
type RootedSet struct {
	base, intern string
	roots        []Key
	body         []byte
	at           int64
}

// NewRootedSet pins roots, which are public JWKs.
func NewRootedSet(url string, roots []json.RawMessage) (*RootedSet, error) {
	named := keySetURL.FindStringSubmatch(url)
	if named == nil || len(roots) == 0 {
		return nil, errors.New("expected {base}/interns/{internId}/daemon/jwks.json and a root")
	}
	set, _ := json.Marshal(map[string]any{"keys": roots})
	keys, err := ReadKeySet(set)
	if err != nil || len(keys) != len(roots) {
		return nil, errors.New("a root is not an Ed25519 public JWK")
	}
	return &RootedSet{base: named[1], intern: named[2], roots: keys, at: -1}, nil
}

// Judge returns the keys and until when they may be used. A nil body is that of a 304; times are Unix milliseconds.
func (r *RootedSet) Judge(body []byte, header *string, now int64) ([]Key, int64, error) {
	if header == nil {
		return nil, 0, errors.New("key_set_unstated")
	}
	stated, document := statement.FindStringSubmatch(*header), body
	if document == nil {
		document = r.body
	}
	if stated == nil || document == nil {
		return nil, 0, errors.New("key_set_malformed")
	}
	at, _ := strconv.ParseInt(stated[1], 10, 64)
	jwks, delegations, statements, err := readDocument(document)
	if err != nil {
		return nil, 0, err
	}
	roles, err := r.roles(delegations, float64(now/1000))
	if err != nil {
		return nil, 0, err
	}
	if len(roles["keys"]) == 0 || len(roles["freshness"]) == 0 {
		return nil, 0, errors.New("key_set_role_missing")
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(document))
	signed := netstrings("ori-key-set-v1", r.base, r.intern, stated[1], digest)
	freshness, isFresh := signerOf(roles["freshness"], stated[2], signed)
	isSame := bytes.Equal(document, r.body)
	switch {
	case !isFresh:
		return nil, 0, errors.New("key_set_signature_invalid")
	case at > now+10_000:
		return nil, 0, errors.New("key_set_ahead")
	case at+60_000 <= now:
		return nil, 0, errors.New("key_set_frozen")
	case r.body != nil && !isSame && at <= r.at:
		return nil, 0, errors.New("key_set_rolled_back")
	}
	keys, ends, err := r.stated(jwks, statements, roles["keys"])
	if err != nil {
		return nil, 0, err
	}
	if !isSame || at > r.at {
		r.at = at
	}
	r.body = document
	ends = math.Min(ends, freshness.Ends) * 1000
	return keys, int64(math.Min(float64(r.at+60_000), ends)), nil
}

// readDocument implements R2 to R4.
func readDocument(document []byte) (jwks, delegations []map[string]any, statements []string, err error) {
	malformed := errors.New("key_set_malformed")
	var set, ori map[string]json.RawMessage
	if !utf8.Valid(document) || json.Unmarshal(document, &set) != nil || decode(set["keys"], &jwks) != nil {
		return nil, nil, nil, malformed
	}
	if set["ori"] == nil {
		return nil, nil, nil, errors.New("key_set_unstated")
	}
	if json.Unmarshal(set["ori"], &ori) != nil || decode(ori["delegations"], &delegations) != nil ||
		decode(ori["statements"], &statements) != nil || len(statements) != len(jwks) {
		return nil, nil, nil, malformed
	}
	if len(delegations) > 16 || len(jwks) > 100 {
		return nil, nil, nil, errors.New("key_set_too_large")
	}
	for _, text := range statements {
		if !signature.MatchString(text) {
			return nil, nil, nil, malformed
		}
	}
	return jwks, delegations, statements, nil
}

// decode reads a list whose numbers stay text.
func decode(list json.RawMessage, into any) error {
	if len(list) == 0 || list[0] != '[' {
		return errSet
	}
	decoder := json.NewDecoder(bytes.NewReader(list))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// roles implements R5: the keys of each role that is in force.
func (r *RootedSet) roles(delegations []map[string]any, now float64) (map[string][]Key, error) {
	roles := map[string][]Key{"root": nil, "keys": nil, "freshness": nil}
	for _, root := range r.roots {
		if root.Begins <= now && now < root.Ends {
			roles["root"] = append(roles["root"], root)
		}
	}
	for _, one := range delegations {
		role, _ := one["role"].(string)
		x, _ := one["x"].(string)
		text, _ := one["signature"].(string)
		begins, isBegin := timeOf(one["nbf"])
		ends, isEnd := timeOf(one["exp"])
		_, isRole := roles[role]
		if !isRole || !publicKey.MatchString(x) || !isBegin || !isEnd || !signature.MatchString(text) {
			return nil, errors.New("key_set_malformed")
		}
		signed := netstrings("ori-delegation-v1", r.base, role, x, begins, ends)
		from, _ := strconv.ParseFloat(begins, 64)
		to, _ := strconv.ParseFloat(ends, 64)
		root, isSigned := signerOf(roles["root"], text, signed)
		if !isSigned || now < from || now >= to {
			continue
		}
		jwk := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": x, "nbf": one["nbf"], "exp": one["exp"]}
		key, isKey := readKey(jwk)
		if !isKey {
			return nil, errors.New("key_set_malformed")
		}
		if hasOther(roles, role, key) {
			continue
		}
		key.Ends = math.Min(key.Ends, root.Ends)
		roles[role] = append(roles[role], key)
	}
	return roles, nil
}

func hasOther(roles map[string][]Key, role string, key Key) bool {
	for other, keys := range roles {
		for _, one := range keys {
			if other != role && bytes.Equal(one.Public, key.Public) {
				return true
			}
		}
	}
	return false
}

// stated implements R11. It returns when the first of the roles that stated a key ends, in Unix seconds.
func (r *RootedSet) stated(jwks []map[string]any, statements []string, roles []Key) ([]Key, float64, error) {
	keys, until, taken := []Key{}, math.Inf(1), map[string]bool{}
	for i, jwk := range jwks {
		key, isKey := readKey(jwk)
		x, _ := jwk["x"].(string)
		begins, isBegin := timeOf(jwk["nbf"])
		ends, isEnd := timeOf(jwk["exp"])
		_, hasEnd := jwk["exp"]
		signed := netstrings("ori-key-v1", r.base, r.intern, x, begins, ends)
		role, isStated := signerOf(roles, statements[i], signed)
		if !isKey || taken[x] || !isBegin || hasEnd != isEnd || !isStated {
			return nil, 0, errors.New("key_unstated")
		}
		keys, until, taken[x] = append(keys, key), math.Min(until, role.Ends), true
	}
	return keys, until, nil
}

// timeOf returns the text of whole seconds; the empty text for anything else.
func timeOf(value any) (string, bool) {
	number, _ := value.(json.Number)
	isTime := second.MatchString(string(number))
	if !isTime {
		return "", false
	}
	return string(number), true
}

func signerOf(keys []Key, text string, signed []byte) (Key, bool) {
	encoded, err := base64.StdEncoding.DecodeString(text)
	for _, key := range keys {
		if err == nil && key.Verifies(encoded, signed) {
			return key, true
		}
	}
	return Key{}, false
}
