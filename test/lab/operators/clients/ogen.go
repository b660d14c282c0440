package main

import (
	"context"
	"fmt"
	"os"

	ori "ori.example/client"
)

type key string

func (name key) Bearer(context.Context, ori.OperationName) (ori.Bearer, error) {
	return ori.Bearer{Token: os.Getenv(string(name))}, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	of := func(name key) *ori.Client { return must(ori.NewClient(os.Getenv("ORI_BASE_URL"), name)) }
	interns := must(of("ORI_API_KEY").ListInterns(ctx, ori.ListInternsParams{})).(*ori.InternPageHeaders)
	fmt.Print("lists ")
	for _, intern := range interns.Response.Data {
		fmt.Print(intern.Name, ",")
	}
	wanted := ori.GuardrailCreate{Name: "made", LimitUsd: ori.NewOptNilFloat64(5)}
	wanted.ResetInterval.SetTo(ori.GuardrailCreateResetIntervalDaily)
	answer := must(of("ORI_MANAGEMENT_KEY").CreateGuardrail(ctx, &wanted, ori.CreateGuardrailParams{}))
	data := answer.(*ori.CreateGuardrailCreatedHeaders).Response.Data
	fmt.Println("\ncreates", data.Name, data.ResetInterval.Value, data.Description.Null)
}
