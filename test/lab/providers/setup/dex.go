// Dex with its storage in memory, a person, a public client, and a client for the API.
package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/server/signer"
	"github.com/dexidp/dex/server/tokens"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/dexidp/dex/web"
	"golang.org/x/crypto/bcrypt"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx, log, port := context.Background(), slog.New(slog.NewTextHandler(io.Discard, nil)), os.Getenv("PORT")
	hash := must(bcrypt.GenerateFromPassword([]byte(os.Getenv("PASSWORD")), 10))
	store := storage.WithStaticClients(memory.New(log), []storage.Client{
		{ID: "ori-cli", Name: "ori", Public: true},
		{ID: "ori-api", Name: "API", Secret: "secret", RedirectURIs: []string{"http://127.0.0.1/none"}, TrustedPeers: []string{"ori-cli"}},
	})
	store = storage.WithStaticPasswords(store, []storage.Password{{Email: "ada@corp.test", Hash: hash, Username: "ada", UserID: "7f3c"}}, log)
	store = storage.WithStaticConnectors(store, []storage.Connector{{ID: "local", Type: "local", Name: "Email"}})
	key := signer.LocalConfig{KeysRotationPeriod: "6h"}
	sign := must(key.Open(ctx, store, time.Hour, time.Now, log))
	dex := must(server.NewServer(ctx, server.Config{
		Issuer: "http://127.0.0.1:" + port + "/dex", Storage: store, Signer: sign, Logger: log,
		Web: server.WebConfig{WebFS: web.FS()}, IDTokensValidFor: time.Hour,
		RefreshTokenPolicy: must(tokens.NewRefreshTokenPolicy(log, false, "", "", "")),
	}))
	println("listening")
	panic(http.ListenAndServe("127.0.0.1:"+port, dex))
}
