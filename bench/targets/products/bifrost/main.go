// Command gateway-bench-bifrost serves chat completions through Bifrost's core module, as the product's own server does: fasthttp in
// front, the OpenAI request types of the core, no plugins, no governance, no logging. The product's server itself cannot be built from
// its module, because the web interface that it embeds is not part of it.
//
// Usage: gateway-bench-bifrost -port 8080 -upstream http://127.0.0.1:9999
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/bytedance/sonic"
	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/providers/openai"
	"github.com/maximhq/bifrost/core/schemas"
	"github.com/valyala/fasthttp"
)

const (
	maxBodyBytes   = 16 << 20
	timeoutSeconds = 60
)

// account gives each provider one key and the upstream's address.
type account struct{ upstream string }

func (a account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI, schemas.Anthropic}, nil
}

func (a account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "bench", Name: "bench", Value: *schemas.NewSecretVar("bench"), Models: schemas.WhiteList{"*"}, Weight: 1}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	return &schemas.ProviderConfig{
		NetworkConfig:            schemas.NetworkConfig{BaseURL: a.upstream, DefaultRequestTimeoutInSeconds: timeoutSeconds},
		ConcurrencyAndBufferSize: schemas.DefaultConcurrencyAndBufferSize,
	}, nil
}

type server struct{ client *bifrost.Bifrost }

func (s server) handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/health":
		ctx.SetBodyString("ready")
	case "/v1/chat/completions":
		s.complete(ctx)
	default:
		ctx.SetStatusCode(fasthttp.StatusNotFound)
	}
}

func (s server) complete(ctx *fasthttp.RequestCtx) {
	var request openai.OpenAIChatRequest
	if err := sonic.Unmarshal(ctx.PostBody(), &request); err != nil {
		ctx.Error(fmt.Sprintf("the body is not a chat request: %v", err), fasthttp.StatusBadRequest)
		return
	}
	bifrostCtx, cancel := schemas.NewBifrostContextWithCancel(context.Background())
	chat := request.ToBifrostChatRequest(bifrostCtx)
	if request.IsStreamingRequested() {
		s.stream(ctx, bifrostCtx, cancel, chat)
		return
	}
	defer cancel()
	answer, failure := s.client.ChatCompletionRequest(bifrostCtx, chat)
	if failure != nil {
		sendFailure(ctx, failure)
		return
	}
	body, err := sonic.Marshal(answer)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.SetBody(body)
}

func (s server) stream(ctx *fasthttp.RequestCtx, bifrostCtx *schemas.BifrostContext, cancel context.CancelFunc, chat *schemas.BifrostChatRequest) {
	chunks, failure := s.client.ChatCompletionStreamRequest(bifrostCtx, chat)
	if failure != nil {
		cancel()
		sendFailure(ctx, failure)
		return
	}
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("Cache-Control", "no-cache")
	ctx.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer cancel()
		for chunk := range chunks {
			if err := writeEvent(w, chunk); err != nil {
				cancel()
			}
		}
		if _, err := w.WriteString("data: [DONE]\n\n"); err == nil {
			_ = w.Flush()
		}
	})
}

func writeEvent(w *bufio.Writer, chunk *schemas.BifrostStreamChunk) error {
	body, err := sonic.Marshal(chunk)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", body); err != nil {
		return err
	}
	return w.Flush()
}

func sendFailure(ctx *fasthttp.RequestCtx, failure *schemas.BifrostError) {
	status := fasthttp.StatusInternalServerError
	if failure.StatusCode != nil {
		status = *failure.StatusCode
	}
	body, _ := sonic.Marshal(failure)
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBody(body)
}

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1")
	upstream := flag.String("upstream", "", "address of the upstream, without /v1")
	flag.Parse()
	if *port <= 0 || *upstream == "" {
		flag.Usage()
		os.Exit(2)
	}
	client, err := bifrost.Init(context.Background(), schemas.BifrostConfig{
		Account: account{upstream: *upstream},
		Logger:  bifrost.NewDefaultLogger(schemas.LogLevelError),
	})
	if err != nil {
		log.Fatal(err)
	}
	listener := &fasthttp.Server{Handler: server{client}.handle, MaxRequestBodySize: maxBodyBytes, NoDefaultServerHeader: true}
	log.Fatal(listener.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port)))
}
