#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

int main(void) {
  int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT")))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 16)) return 1;
  int calls = 0;
  puts("ready");
  fflush(stdout);
  for (;;) {
    char method[16] = "", path[2100] = "", user[300] = "nobody", line[17000], body[4096] = "";
    int client = accept(server, NULL, NULL), users = 0;
    long length = 0;
    FILE *stream = fdopen(client, "r+");
    if (!stream) continue;
    if (fgets(line, sizeof line, stream)) sscanf(line, "%15s %2099s", method, path);
    while (fgets(line, sizeof line, stream) && strcmp(line, "\r\n")) {
      line[strcspn(line, "\r\n")] = 0;
      if (!strncasecmp(line, "content-length:", 15)) length = atol(line + 15);
      if (!strncasecmp(line, "x-ori-verified-user:", 20) && ++users) sscanf(line + 20, " %299s", user);
    }
    if (length > 0 && length < (long)sizeof body) body[fread(body, 1, length, stream)] = 0;
    if (users > 1) strcpy(user, "several");
    fflush(stream);
    dprintf(client, "HTTP/1.0 200 OK\r\n\r\n%d %s %s %s %s", ++calls, method, path, user, body);
    fclose(stream);
  }
}
