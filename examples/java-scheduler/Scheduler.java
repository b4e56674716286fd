import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A Kubernetes scheduler in plain Java: each waiting pod goes to the first node, by name, on which it fits.
 *
 * <p>{@code java Scheduler.java SERVER [NAME]}: the URL of the API, and what pods call the scheduler. A thread for each
 * watch puts what it hears into a queue; the main thread takes it from there and decides. A pod that fits nowhere is
 * tried again when another has ended, and every 30 seconds.
 */
public class Scheduler {
    static final long RETRY_SECONDS = 30;
    static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("HH:mm:ss");

    record Event(String kind, String type, Map<String, Object> object) {}

    final String server;
    final String name;
    final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    final BlockingQueue<Event> queue = new LinkedBlockingQueue<>();
    final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    final Map<String, Map<String, Object>> nodes = new TreeMap<>();
    final Map<String, Map<String, Object>> pods = new LinkedHashMap<>();
    boolean retryComes = false;

    Scheduler(String server, String name) {
        this.server = server;
        this.name = name;
    }

    public static void main(String[] arguments) throws Exception {
        new Scheduler(arguments[0], arguments.length > 1 ? arguments[1] : "default-scheduler").run();
    }

    void run() throws Exception {
        follow("nodes");
        follow("pods");
        while (true) {
            take(queue.take());
            while (!queue.isEmpty()) {
                take(queue.take());
            }
            decide();
        }
    }

    // What there is

    /** Lists a resource, then watches it in a thread of its own. */
    void follow(String kind) throws Exception {
        Map<String, Object> list = object(Json.read(send("GET", "/api/v1/" + kind, null).body()));
        for (Object item : array(list.get("items"))) {
            queue.add(new Event(kind, "ADDED", object(item)));
        }
        String version = string(object(list.get("metadata")).get("resourceVersion"));
        Thread thread = new Thread(() -> watch(kind, version), "watch of " + kind);
        thread.start();
    }

    void watch(String kind, String version) {
        URI uri = URI.create(server + "/api/v1/" + kind + "?watch=true&resourceVersion=" + version);
        try {
            HttpResponse<InputStream> answer =
                    http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofInputStream());
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, Object> event = object(Json.read(line));
                queue.add(new Event(kind, string(event.get("type")), object(event.get("object"))));
            }
            System.err.println("the watch of " + kind + " was ended");
        } catch (IOException | InterruptedException error) {
            System.err.println("the watch of " + kind + " failed: " + error);
        }
        System.exit(1);
    }

    void take(Event event) {
        if (event.kind.equals("retry")) {
            retryComes = false;
            return;
        }
        Map<String, Object> meta = object(event.object.get("metadata"));
        Map<String, Map<String, Object>> known = event.kind.equals("nodes") ? nodes : pods;
        String key = event.kind.equals("nodes") ? string(meta.get("name")) : string(meta.get("uid"));
        if (event.type.equals("DELETED")) {
            known.remove(key);
        } else {
            known.put(key, event.object);
        }
    }

    // Decisions

    void decide() throws Exception {
        Map<String, Map<String, BigDecimal>> room = room();
        boolean someWait = false;
        for (Map<String, Object> pod : pods.values()) {
            Map<String, Object> spec = object(pod.get("spec"));
            if (spec.get("nodeName") != null || !name.equals(spec.get("schedulerName"))) {
                continue;
            }
            String node = firstFit(requests(pod), room);
            if (node == null || !bind(pod, node)) {
                someWait = true;
                continue;
            }
            requests(pod).forEach((what, amount) -> room.get(node).merge(what, amount.negate(), BigDecimal::add));
            spec.put("nodeName", node);
        }
        if (someWait && !retryComes) {
            retryComes = true;
            timer.schedule(() -> queue.add(new Event("retry", "", Map.of())), RETRY_SECONDS, TimeUnit.SECONDS);
        }
    }

    static String firstFit(Map<String, BigDecimal> wanted, Map<String, Map<String, BigDecimal>> room) {
        for (Map.Entry<String, Map<String, BigDecimal>> node : room.entrySet()) {
            boolean fits = wanted.entrySet().stream().allMatch(
                    one -> node.getValue().getOrDefault(one.getKey(), BigDecimal.ZERO).compareTo(one.getValue()) >= 0);
            if (fits) {
                return node.getKey();
            }
        }
        return null;
    }

    /** What is left of each node that takes pods. */
    Map<String, Map<String, BigDecimal>> room() {
        Map<String, Map<String, BigDecimal>> room = new TreeMap<>();
        for (Map<String, Object> node : nodes.values()) {
            Map<String, Object> spec = object(node.get("spec"));
            if (Boolean.TRUE.equals(spec.get("unschedulable")) || !array(spec.get("taints")).isEmpty()) {
                continue;
            }
            room.put(
                    string(object(node.get("metadata")).get("name")),
                    amounts(object(object(node.get("status")).get("allocatable"))));
        }
        for (Map<String, Object> pod : pods.values()) {
            Map<String, BigDecimal> left = room.get(string(object(pod.get("spec")).get("nodeName")));
            String phase = string(object(pod.get("status")).get("phase"));
            if (left != null && !phase.equals("Succeeded") && !phase.equals("Failed")) {
                requests(pod).forEach((what, amount) -> left.merge(what, amount.negate(), BigDecimal::add));
            }
        }
        return room;
    }

    /** What the containers of a pod ask for, and a place. */
    static Map<String, BigDecimal> requests(Map<String, Object> pod) {
        Map<String, BigDecimal> total = new TreeMap<>(Map.of("pods", BigDecimal.ONE));
        for (Object container : array(object(pod.get("spec")).get("containers"))) {
            Map<String, Object> resources = object(object(container).get("resources"));
            amounts(object(resources.get("requests"))).forEach((what, amount) -> total.merge(what, amount, BigDecimal::add));
        }
        return total;
    }

    boolean bind(Map<String, Object> pod, String node) throws Exception {
        Map<String, Object> meta = object(pod.get("metadata"));
        String path = "/api/v1/namespaces/" + meta.get("namespace") + "/pods/" + meta.get("name") + "/binding";
        String body = String.format(
                "{\"apiVersion\": \"v1\", \"kind\": \"Binding\", \"metadata\": {\"name\": \"%s\", \"uid\": \"%s\"},"
                        + " \"target\": {\"kind\": \"Node\", \"name\": \"%s\"}}",
                meta.get("name"), meta.get("uid"), node);
        int status = send("POST", path, body).statusCode();
        boolean bound = status < 300;
        System.out.println(LocalTime.now().format(SECONDS) + " " + meta.get("name")
                + (bound ? " -> " + node : " not bound: status " + status));
        return bound;
    }

    HttpResponse<String> send(String method, String path, String body) throws Exception {
        HttpRequest.BodyPublisher content = body == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(body);
        HttpRequest request = HttpRequest.newBuilder(URI.create(server + path))
                .header("Content-Type", "application/json")
                .method(method, content)
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }

    // Values

    static final Map<String, BigDecimal> FACTORS = Map.ofEntries(
            Map.entry("m", new BigDecimal("0.001")),
            Map.entry("", BigDecimal.ONE),
            Map.entry("k", BigDecimal.TEN.pow(3)),
            Map.entry("M", BigDecimal.TEN.pow(6)),
            Map.entry("G", BigDecimal.TEN.pow(9)),
            Map.entry("T", BigDecimal.TEN.pow(12)),
            Map.entry("Ki", new BigDecimal(1L << 10)),
            Map.entry("Mi", new BigDecimal(1L << 20)),
            Map.entry("Gi", new BigDecimal(1L << 30)),
            Map.entry("Ti", new BigDecimal(1L << 40)));

    static Map<String, BigDecimal> amounts(Map<String, Object> quantities) {
        Map<String, BigDecimal> amounts = new TreeMap<>();
        quantities.forEach((what, quantity) -> {
            String suffix = string(quantity).replaceFirst("^[0-9.]+", "");
            String digits = string(quantity).substring(0, string(quantity).length() - suffix.length());
            amounts.put(what, new BigDecimal(digits).multiply(FACTORS.get(suffix)));
        });
        return amounts;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value == null ? Map.of() : (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> array(Object value) {
        return value == null ? List.of() : (List<Object>) value;
    }

    static String string(Object value) {
        return value == null ? "" : value.toString();
    }
}

/** Reads JSON: objects are maps, arrays lists; the rest strings, BigDecimals, Booleans and null. */
class Json {
    private final String text;
    private int at = 0;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        return new Json(text).value();
    }

    private Object value() {
        char first = peek();
        switch (first) {
            case '{':
                Map<String, Object> members = new LinkedHashMap<>();
                for (at++; peek() != '}'; skip(',')) {
                    String key = quoted();
                    skip(':');
                    members.put(key, value());
                }
                at++;
                return members;
            case '[':
                List<Object> items = new ArrayList<>();
                for (at++; peek() != ']'; skip(',')) {
                    items.add(value());
                }
                at++;
                return items;
            case '"':
                return quoted();
            default:
                int begin = at;
                while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                String word = text.substring(begin, at);
                return switch (word) {
                    case "null" -> null;
                    case "true" -> Boolean.TRUE;
                    case "false" -> Boolean.FALSE;
                    default -> new BigDecimal(word);
                };
        }
    }

    private char peek() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    /** Steps over a separator, where there is one. */
    private void skip(char separator) {
        if (peek() == separator) {
            at++;
        }
    }

    private String quoted() {
        peek();
        StringBuilder said = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) != '\\') {
                said.append(text.charAt(at));
                continue;
            }
            char escape = text.charAt(++at);
            if (escape == 'u') {
                said.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                int index = "bfnrt".indexOf(escape);
                said.append(index < 0 ? escape : "\b\f\n\r\t".charAt(index));
            }
        }
        at++;
        return said.toString();
    }
}
