// The example server of zitadel/oidc (its access tokens are JWE), with scopes and an audience of an API.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

type apiStorage struct{ *storage.Storage }

type apiClient struct{ op.Client }

func (c apiClient) IsScopeAllowed(scope string) bool { return scope == "vault:read" || scope == "interns" }

func (s apiStorage) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	client, err := s.Storage.GetClientByClientID(ctx, id)
	return apiClient{client}, err
}

// The example's tokens are for its client alone, and only the audience may introspect them.
func (s apiStorage) SetIntrospectionFromToken(ctx context.Context, answer *oidc.IntrospectionResponse, token, subject, _ string) error {
	err := s.Storage.SetIntrospectionFromToken(ctx, answer, token, subject, "ori-cli")
	answer.Audience = []string{os.Getenv("AUDIENCE")}
	return err
}

func main() {
	issuer := "http://127.0.0.1:" + os.Getenv("PORT")
	storage.RegisterClients(storage.NativeClient("ori-cli", "http://127.0.0.1/callback"), storage.WebClient("api", "secret"))
	store := apiStorage{storage.NewStorage(storage.NewUserStore(issuer))}
	router := exampleop.SetupServer(issuer, store, slog.New(slog.NewTextHandler(os.Stderr, nil)), false)
	println("listening")
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), router))
}
