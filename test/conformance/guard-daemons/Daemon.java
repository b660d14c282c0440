import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

public class Daemon {
  public static void main(String[] args) throws Exception {
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
    var calls = new AtomicInteger();
    var server = HttpServer.create(address, 16);
    server.createContext("/", exchange -> {
      var body = new String(exchange.getRequestBody().readAllBytes());
      var user = exchange.getRequestHeaders().getOrDefault("x-ori-verified-user", java.util.List.of("nobody"));
      var target = exchange.getRequestURI().getRawPath();
      var text = String.join(" ", "" + calls.incrementAndGet(), exchange.getRequestMethod(), target, String.join(",", user), body);
      exchange.sendResponseHeaders(200, text.getBytes().length);
      exchange.getResponseBody().write(text.getBytes());
      exchange.close();
    });
    server.start();
    System.out.println("ready");
  }
}
