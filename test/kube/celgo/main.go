// Command celgo answers CEL programs with cel-go as Kubernetes configures it.
//
// It reads one JSON object per line, {"expr": …, "vars": {name: type}, "bindings": {…}}, and prints one JSON object
// per line: {"value": …, "cost": n} or {"error": …}, or {"compile": …} when the program is rejected.
// Values carry their CEL type: {"int": "1"}, {"list": […]}, {"map": [[k, v], …]} and so on.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type request struct {
	Expr     string            `json:"expr"`
	Vars     map[string]string `json:"vars"`
	Bindings json.RawMessage   `json:"bindings"`
	// Extensions adds cel-go's own libraries that Kubernetes leaves out (bindings, math, encoders, strings in full).
	Extensions bool `json:"extensions"`
}

type answer struct {
	Value    any     `json:"value,omitempty"`
	Error    string  `json:"error,omitempty"`
	Compile  string  `json:"compile,omitempty"`
	Cost     *uint64 `json:"cost,omitempty"`
	MinCost  string  `json:"min,omitempty"`
	MaxCost  string  `json:"max,omitempty"`
	TypeName string  `json:"type,omitempty"`
}

type unknownSizes struct{}

func (unknownSizes) EstimateSize(checker.AstNode) *checker.SizeEstimate { return nil }
func (unknownSizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

var named = map[string]*cel.Type{
	"dyn": cel.DynType, "int": cel.IntType, "uint": cel.UintType, "double": cel.DoubleType, "bool": cel.BoolType,
	"string": cel.StringType, "bytes": cel.BytesType, "timestamp": cel.TimestampType, "duration": cel.DurationType,
	"null": cel.NullType,
}

// typeOf reads the type names that the fuzzer declares: scalars, list(T) and map(K, V).
func typeOf(name string) *cel.Type {
	if t, ok := named[name]; ok {
		return t
	}
	if inner, ok := strings.CutPrefix(name, "list("); ok {
		return cel.ListType(typeOf(strings.TrimSuffix(inner, ")")))
	}
	if inner, ok := strings.CutPrefix(name, "map("); ok {
		key, value, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
		return cel.MapType(typeOf(key), typeOf(value))
	}
	panic("unknown type " + name)
}

// adapt turns JSON into what Kubernetes binds: integers are int64, {"$timestamp": …} and the like are typed.
func adapt(raw any) any {
	switch v := raw.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = adapt(e)
		}
		return out
	case map[string]any:
		if len(v) == 1 {
			if typed, ok := adaptTyped(v); ok {
				return typed
			}
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = adapt(e)
		}
		return out
	}
	return raw
}

func adaptTyped(v map[string]any) (any, bool) {
	for k, e := range v {
		s, _ := e.(string)
		switch k {
		case "$timestamp":
			t, _ := time.Parse(time.RFC3339Nano, s)
			return t, true
		case "$duration":
			d, _ := time.ParseDuration(s)
			return d, true
		case "$double":
			f, _ := strconv.ParseFloat(s, 64)
			return f, true
		case "$uint":
			u, _ := strconv.ParseUint(s, 10, 64)
			return u, true
		case "$bytes":
			b, _ := base64.StdEncoding.DecodeString(s)
			return b, true
		}
	}
	return nil, false
}

func encodeDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

func encode(v ref.Val) any {
	switch x := v.(type) {
	case types.Null:
		return map[string]any{"null": true}
	case types.Bool:
		return map[string]any{"bool": bool(x)}
	case types.Int:
		return map[string]any{"int": strconv.FormatInt(int64(x), 10)}
	case types.Uint:
		return map[string]any{"uint": strconv.FormatUint(uint64(x), 10)}
	case types.Double:
		return map[string]any{"double": encodeDouble(float64(x))}
	case types.String:
		return map[string]any{"string": string(x)}
	case types.Bytes:
		return map[string]any{"bytes": base64.StdEncoding.EncodeToString(x)}
	case types.Timestamp:
		return map[string]any{"timestamp": fmt.Sprintf("%d.%09d", x.Unix(), x.Nanosecond())}
	case types.Duration:
		return map[string]any{"duration": strconv.FormatInt(x.Duration.Nanoseconds(), 10)}
	case *types.Optional:
		if !x.HasValue() {
			return map[string]any{"optional": nil}
		}
		return map[string]any{"optional": encode(x.GetValue())}
	case traits.Lister:
		out := []any{}
		for it := x.Iterator(); it.HasNext() == types.True; {
			out = append(out, encode(it.Next()))
		}
		return map[string]any{"list": out}
	case traits.Mapper:
		return encodeMap(x)
	case *types.Type:
		return map[string]any{"type": x.TypeName()}
	}
	return map[string]any{"opaque": v.Type().TypeName()}
}

func encodeMap(m traits.Mapper) any {
	entries := [][2]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		k := it.Next()
		entries = append(entries, [2]any{encode(k), encode(m.Get(k))})
	}
	sort.Slice(entries, func(i, j int) bool {
		a, _ := json.Marshal(entries[i][0])
		b, _ := json.Marshal(entries[j][0])
		return string(a) < string(b)
	})
	return map[string]any{"map": entries}
}

func environmentFor(req request) (*cel.Env, error) {
	opts := []cel.EnvOption{}
	for name, t := range req.Vars {
		opts = append(opts, cel.Variable(name, typeOf(t)))
	}
	if req.Extensions {
		opts = append(opts, ext.Bindings(), ext.Math(), ext.Encoders(), ext.Regex())
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        opts,
	})
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
}

func answerTo(req request) (out answer) {
	defer func() {
		if p := recover(); p != nil {
			out = answer{Error: fmt.Sprint(p)}
		}
	}()
	env, err := environmentFor(req)
	if err != nil {
		return answer{Compile: err.Error()}
	}
	ast, issues := env.Compile(req.Expr)
	if issues.Err() != nil {
		return answer{Compile: issues.String()}
	}
	estimate, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: unknownSizes{}})
	if err != nil {
		return answer{Compile: err.Error()}
	}
	program, err := env.Program(ast)
	if err != nil {
		return answer{Compile: err.Error()}
	}
	out.TypeName = checker.FormatCELType(ast.OutputType())
	out.MinCost, out.MaxCost = strconv.FormatUint(estimate.Min, 10), strconv.FormatUint(estimate.Max, 10)
	var raw any
	decoder := json.NewDecoder(strings.NewReader(string(req.Bindings)))
	decoder.UseNumber()
	if len(req.Bindings) > 0 {
		if err := decoder.Decode(&raw); err != nil {
			return answer{Compile: err.Error()}
		}
	}
	bindings, _ := adapt(raw).(map[string]any)
	if bindings == nil {
		bindings = map[string]any{}
	}
	value, details, err := program.Eval(bindings)
	if details != nil {
		out.Cost = details.ActualCost()
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Value = encode(value)
	return out
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		var req request
		out := answer{}
		if err := json.Unmarshal(in.Bytes(), &req); err != nil {
			out.Compile = "bad request: " + err.Error()
		} else {
			out = answerTo(req)
		}
		if err := encoder.Encode(out); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		w.Flush()
	}
}
