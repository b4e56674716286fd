// Prints objects of every kind, filled at random from a seed, as Go's own encoders write them: a line for each, with
// the whole protobuf body and the JSON of the object that Go decodes from it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	seed     = 1
	perKind  = 3 // an empty object, a sparse one, a full one
	maxDepth = 14
)

var (
	random   = rand.New(rand.NewSource(seed))
	texts    = []string{"a", "batkube", "ünïcode ☃", "with \"quotes\" <&>", "x.example.com/y"}
	embedded = []string{`{"a":1}`, `{"a":{"b":[1,"c",null,true]}}`, `[1,2]`, `"text"`}
)

// fill sets the value at random; the fuller, the more of its pointers, lists and maps.
func fill(v reflect.Value, fullness float64, depth int) {
	switch its := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return
	case *metav1.Time:
		*its = metav1.NewTime(time.Unix(random.Int63n(4e9)-1e9, 0))
		return
	case *metav1.MicroTime:
		*its = metav1.NewMicroTime(time.Unix(random.Int63n(4e9), random.Int63n(1e6)*1000))
		return
	case *metav1.Duration:
		its.Duration = time.Duration(random.Int63n(1 << (1 + uint(random.Intn(50)))))
		return
	case *metav1.FieldsV1:
		its.Raw = []byte(`{"f:metadata":{"f:labels":{".":{}}}}`)
		return
	case *resource.Quantity:
		*its = resource.MustParse([]string{"1", "100m", "1536Mi", "2k", "0"}[random.Intn(5)])
		return
	case *intstr.IntOrString:
		if random.Intn(2) == 0 {
			*its = intstr.FromInt32(random.Int31() - 1<<30)
		} else {
			*its = intstr.FromString("25%")
		}
		return
	case *runtime.RawExtension:
		its.Raw = []byte(embedded[random.Intn(2)])
		return
	case *apiextensions.JSON:
		its.Raw = []byte(embedded[random.Intn(len(embedded))])
		return
	case *apiextensions.JSONSchemaPropsOrBool:
		its.Allows = true
		if random.Intn(2) == 0 {
			its.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
		}
		return
	case *apiextensions.JSONSchemaPropsOrArray:
		if random.Intn(2) == 0 {
			its.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
		} else {
			its.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: "string"}, {Type: "object"}}
		}
		return
	case *apiextensions.JSONSchemaPropsOrStringArray:
		if random.Intn(2) == 0 {
			its.Schema = &apiextensions.JSONSchemaProps{Type: "string"}
		} else {
			its.Property = []string{"a", "b"}
		}
		return
	}
	if depth > maxDepth {
		return
	}
	more := func() bool { return random.Float64() < fullness }
	switch v.Kind() {
	case reflect.String:
		if more() {
			v.SetString(texts[random.Intn(len(texts))])
		}
	case reflect.Bool:
		v.SetBool(more() && random.Intn(2) == 0)
	case reflect.Int32:
		if more() {
			v.SetInt(int64(int32(random.Uint32())))
		}
	case reflect.Int64:
		if more() {
			v.SetInt(int64(random.Uint64()))
		}
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 0.5, -3.25, 1e9}[random.Intn(5)])
	case reflect.Pointer:
		if more() && (v.Type().Elem().Kind() != reflect.Struct || depth < maxDepth-2) {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), fullness, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if more() {
				v.SetBytes([]byte(texts[random.Intn(len(texts))]))
			}
			return
		}
		count := random.Intn(3)
		if !more() || depth > maxDepth-4 && v.Type().Elem().Kind() == reflect.Struct {
			count = 0
		}
		for range count {
			item := reflect.New(v.Type().Elem()).Elem()
			fill(item, fullness, depth+1)
			v.Set(reflect.Append(v, item))
		}
	case reflect.Map:
		if !more() || depth > maxDepth-4 && v.Type().Elem().Kind() == reflect.Struct {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + random.Intn(2) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(texts[random.Intn(len(texts))])
			fill(value, fullness, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), fullness, depth+1)
			}
		}
	default:
		panic(fmt.Sprintf("no way to fill %v", v.Type()))
	}
}

type marshaler interface{ Marshal() ([]byte, error) }

func main() {
	if err := apiextensions.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	types := scheme.Scheme.AllKnownTypes()
	kinds := make([]schema.GroupVersionKind, 0, len(types))
	for kind, t := range types {
		_, encodes := reflect.New(t).Interface().(marshaler)
		if kind.Version != runtime.APIVersionInternal && encodes && kind.Kind != "WatchEvent" {
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	lines := json.NewEncoder(os.Stdout)
	for _, kind := range kinds {
		for n := range perKind {
			filled := reflect.New(types[kind])
			fill(filled.Elem(), float64(n)*0.4, 0)
			fill := filled.Interface().(runtime.Object)
			fill.GetObjectKind().SetGroupVersionKind(kind)
			var body bytes.Buffer
			if err := serializer.Encode(fill, &body); err != nil {
				panic(fmt.Sprintf("%v: %v", kind, err))
			}
			decoded, _, err := serializer.Decode(body.Bytes(), nil, nil)
			if err != nil {
				panic(fmt.Sprintf("%v: %v", kind, err))
			}
			decoded.GetObjectKind().SetGroupVersionKind(kind)
			line := map[string]any{"kind": kind.String(), "body": body.Bytes(), "object": decoded}
			if err := lines.Encode(line); err != nil {
				panic(fmt.Sprintf("%v: %v", kind, err))
			}
		}
	}
}
