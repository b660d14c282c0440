package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	ori "ori.example/client"
)

func of(key string) *ori.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv(key))
		return nil
	}
	return must(ori.NewClientWithResponses(os.Getenv("ORI_BASE_URL"), ori.WithRequestEditorFn(authorize)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	interns := must(of("ORI_API_KEY").ListInternsWithResponse(ctx, nil))
	fmt.Print("lists ")
	for _, intern := range interns.JSON200.Data {
		fmt.Print(intern.Name, ",")
	}
	limit, interval := float64(5), ori.GuardrailCreateResetIntervalDaily
	wanted := ori.GuardrailCreate{Name: "made", LimitUsd: &limit, ResetInterval: &interval}
	made := must(of("ORI_MANAGEMENT_KEY").CreateGuardrailWithResponse(ctx, nil, wanted))
	data := made.JSON201.Data
	fmt.Println("\ncreates", data.Name, *data.ResetInterval, data.Description)
}
