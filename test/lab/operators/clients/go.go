package main

import (
	"context"
	"fmt"
	"os"

	ori "ori.example/client"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	config := ori.NewConfiguration()
	config.Servers = ori.ServerConfigurations{{URL: os.Getenv("ORI_BASE_URL")}}
	client := ori.NewAPIClient(config)
	of := func(key string) context.Context {
		return context.WithValue(context.Background(), ori.ContextAccessToken, os.Getenv(key))
	}
	interns, _, err := client.InternsAPI.ListInterns(of("ORI_API_KEY")).Execute()
	fmt.Print("lists ")
	for _, intern := range must(interns, err).Data {
		fmt.Print(intern.Name, ",")
	}
	wanted := ori.NewGuardrailCreate("made")
	wanted.SetLimitUsd(5)
	wanted.SetResetInterval("daily")
	made, _, err := client.GuardrailsAPI.CreateGuardrail(of("ORI_MANAGEMENT_KEY")).GuardrailCreate(*wanted).Execute()
	data := must(made, err).Data
	fmt.Println("\ncreates", data.Name, data.GetResetInterval(), data.Description.Get())
}
