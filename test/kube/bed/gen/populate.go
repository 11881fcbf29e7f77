package main

import (
	"encoding/json"
	"math/rand"
	"os"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// enumTable holds, by struct name and JSON name, the values a string field may have.
type enumTable map[string]map[string][]string

func readEnums(path string) (enumTable, error) {
	var table struct {
		Types map[string]struct {
			Fields map[string]struct {
				Enum []string `json:"enum"`
			} `json:"fields"`
		} `json:"types"`
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return nil, err
	}
	enums := enumTable{}
	for name, row := range table.Types {
		enums[name] = map[string][]string{}
		for field, entry := range row.Fields {
			enums[name][field] = entry.Enum
		}
	}
	return enums, nil
}

// A filler writes random objects to be defaulted. How full they are changes from struct to struct, so that every
// mixture occurs: structs with nothing in them, with one of many alternatives (a volume's source), with everything.
// The same seed writes the same objects.
type filler struct {
	random *rand.Rand
	enums  enumTable
	fill   float64 // share of values that are set, in the struct at hand
	alloc  float64 // share of structs, lists and maps that are there, in the struct at hand
}

const maxDepth = 16

// Structs with more fields than this are unions like VolumeSource: filling most of them at once only costs time.
const manyFields = 20

func (f *filler) chance(p float64) bool { return f.random.Float64() < p }

func (f *filler) pick(shares ...float64) float64 { return shares[f.random.Intn(len(shares))] }

// value writes v; choices are the enum of the field it belongs to.
func (f *filler) value(v reflect.Value, choices []string, depth int) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		f.pointer(v, choices, depth)
	case reflect.Struct:
		f.structure(v, depth)
	case reflect.Slice:
		f.slice(v, choices, depth)
	case reflect.Map:
		f.mapping(v, depth)
	case reflect.String:
		if f.chance(f.fill) {
			v.SetString(f.text(choices))
		}
	case reflect.Bool:
		v.SetBool(f.chance(f.fill / 2))
	case reflect.Int32, reflect.Int64:
		if f.chance(f.fill) {
			v.SetInt(int64(f.random.Intn(3)))
		}
	}
}

func (f *filler) pointer(v reflect.Value, choices []string, depth int) {
	leaf := v.Type().Elem().Kind() != reflect.Struct
	if depth > maxDepth || (leaf && !f.chance(f.fill)) || (!leaf && !f.chance(f.alloc)) {
		return
	}
	v.Set(reflect.New(v.Type().Elem()))
	f.value(v.Elem(), choices, depth+1)
}

func (f *filler) structure(v reflect.Value, depth int) {
	enums := f.enums[modelName(v.Type())]
	fill, alloc := f.fill, f.alloc
	defer func() { f.fill, f.alloc = fill, alloc }()
	f.fill, f.alloc = f.pick(0, 0.2, 0.5, 0.9), f.pick(0.1, 0.3, 0.6, 0.9)
	if v.NumField() > manyFields {
		f.alloc = f.pick(0, 0.03, 0.1, 0.3)
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		f.value(v.Field(i), enums[jsonNameOf(field)], depth+1)
	}
}

func (f *filler) slice(v reflect.Value, choices []string, depth int) {
	leaf := v.Type().Elem().Kind() != reflect.Struct
	if depth > maxDepth || (leaf && !f.chance(f.fill)) || (!leaf && !f.chance(f.alloc)) {
		return
	}
	length := 1 + f.random.Intn(2)
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		f.value(v.Index(i), choices, depth+1)
	}
}

func (f *filler) mapping(v reflect.Value, depth int) {
	if depth > maxDepth || !f.chance(f.fill) {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	key := reflect.New(v.Type().Key()).Elem()
	key.SetString([]string{"cpu", "memory", "hugepages-2Mi", "a"}[f.random.Intn(4)])
	value := reflect.New(v.Type().Elem()).Elem()
	f.value(value, nil, depth+1)
	v.SetMapIndex(key, value)
}

// words are what defaulting looks for in strings that have no enum: image tags, kinds of subjects, types of limits.
var words = []string{"a", "b:latest", "c:1", "User", "ServiceAccount", "Container"}

func (f *filler) text(choices []string) string {
	if len(choices) > 0 && f.chance(0.9) {
		return choices[f.random.Intn(len(choices))]
	}
	return words[f.random.Intn(len(words))]
}

// special writes the structs that are one value in JSON, and says whether v was one.
func (f *filler) special(v reflect.Value) bool {
	if _, ok := specials[v.Type()]; !ok {
		return false
	}
	if !f.chance(f.fill) {
		return true
	}
	switch target := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*target = resource.MustParse([]string{"1", "100Mi", "1500u"}[f.random.Intn(3)])
	case *intstr.IntOrString:
		*target = []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("10%")}[f.random.Intn(2)]
	case *metav1.Time:
		*target = metav1.Unix(1700000000, 0)
	case *metav1.MicroTime:
		*target = metav1.NewMicroTime(time.Unix(1700000000, 0))
	}
	return true
}
