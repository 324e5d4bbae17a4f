// Sends every case with the libraries, and prints what they read: one line of JSON for each case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	anthropicparam "github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

type site struct {
	URL   string
	Key   string
	Cases []struct {
		Name   string
		API    string
		Stream bool
		Body   json.RawMessage
	}
}

type clients struct {
	openai    openai.Client
	anthropic anthropic.Client
}

type result map[string]any

func reading(text string, calls [][2]string, finish string) result {
	if calls == nil {
		calls = [][2]string{}
	}
	return result{"text": text, "calls": calls, "finish": finish}
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var site site
	if err := json.Unmarshal(file, &site); err != nil {
		panic(err)
	}
	all := clients{
		openai: openai.NewClient(option.WithBaseURL(site.URL+"/v1"), option.WithAPIKey(site.Key), option.WithMaxRetries(0)),
		anthropic: anthropic.NewClient(anthropicoption.WithBaseURL(site.URL), anthropicoption.WithAPIKey(site.Key),
			anthropicoption.WithMaxRetries(0)),
	}
	for _, one := range site.Cases {
		read, err := all.send(one.API, one.Body, one.Stream)
		if err != nil {
			read = describe(err)
		}
		line, err := json.Marshal(map[string]any{"name": one.Name, "result": read})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

func describe(err error) result {
	var failed *openai.Error
	if errors.As(err, &failed) {
		return result{"status": failed.StatusCode}
	}
	var refused *anthropic.Error
	if errors.As(err, &refused) {
		return result{"status": refused.StatusCode}
	}
	return result{"problem": err.Error()}
}

func (all clients) send(api string, body json.RawMessage, stream bool) (result, error) {
	ctx := context.Background()
	switch api {
	case "chat":
		return all.chat(ctx, param.Override[openai.ChatCompletionNewParams](body), stream)
	case "responses":
		return all.responses(ctx, param.Override[responses.ResponseNewParams](body), stream)
	case "messages":
		return all.messages(ctx, anthropicparam.Override[anthropic.MessageNewParams](body), stream)
	case "embeddings":
		answer, err := all.openai.Embeddings.New(ctx, param.Override[openai.EmbeddingNewParams](body))
		if err != nil {
			return nil, err
		}
		lengths := []int{}
		for _, item := range answer.Data {
			lengths = append(lengths, len(item.Embedding))
		}
		return result{"lengths": lengths}, nil
	default:
		page := all.openai.Models.ListAutoPaging(ctx)
		count := 0
		for page.Next() {
			count++
		}
		return result{"ids": count}, page.Err()
	}
}

func (all clients) chat(ctx context.Context, params openai.ChatCompletionNewParams, stream bool) (result, error) {
	var answer openai.ChatCompletion
	if stream {
		events := all.openai.Chat.Completions.NewStreaming(ctx, params)
		joined := openai.ChatCompletionAccumulator{}
		for events.Next() {
			if !joined.AddChunk(events.Current()) {
				return nil, errors.New("the accumulator rejects a chunk")
			}
		}
		if err := events.Err(); err != nil {
			return nil, err
		}
		answer = joined.ChatCompletion
	} else {
		whole, err := all.openai.Chat.Completions.New(ctx, params)
		if err != nil {
			return nil, err
		}
		answer = *whole
	}
	choice := answer.Choices[0]
	var calls [][2]string
	for _, call := range choice.Message.ToolCalls {
		calls = append(calls, [2]string{call.Function.Name, call.Function.Arguments})
	}
	return reading(choice.Message.Content, calls, string(choice.FinishReason)), nil
}

func (all clients) responses(ctx context.Context, params responses.ResponseNewParams, stream bool) (result, error) {
	var answer responses.Response
	if stream {
		events := all.openai.Responses.NewStreaming(ctx, params)
		for events.Next() {
			answer = events.Current().Response
		}
		if err := events.Err(); err != nil {
			return nil, err
		}
	} else {
		whole, err := all.openai.Responses.New(ctx, params)
		if err != nil {
			return nil, err
		}
		answer = *whole
	}
	var calls [][2]string
	for _, item := range answer.Output {
		if item.Type == "function_call" {
			call := item.AsFunctionCall()
			calls = append(calls, [2]string{call.Name, call.Arguments})
		}
	}
	return reading(answer.OutputText(), calls, string(answer.Status)), nil
}

func (all clients) messages(ctx context.Context, params anthropic.MessageNewParams, stream bool) (result, error) {
	answer := anthropic.Message{}
	if stream {
		events := all.anthropic.Messages.NewStreaming(ctx, params)
		for events.Next() {
			if err := answer.Accumulate(events.Current()); err != nil {
				return nil, err
			}
		}
		if err := events.Err(); err != nil {
			return nil, err
		}
	} else {
		whole, err := all.anthropic.Messages.New(ctx, params)
		if err != nil {
			return nil, err
		}
		answer = *whole
	}
	text := ""
	var calls [][2]string
	for _, block := range answer.Content {
		switch block.Type {
		case "text":
			text += block.Text
		case "tool_use":
			calls = append(calls, [2]string{block.Name, string(block.Input)})
		}
	}
	return reading(text, calls, string(answer.StopReason)), nil
}
