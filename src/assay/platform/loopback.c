/* Preloaded (ld.so(8)) into the processes of a cluster whose only node is this machine: a TCP socket that would be bound to
   all interfaces is bound to loopback, since Hadoop has ports for which no address can be set. Dual-stack sockets of IPv6,
   which are Java's usual ones, get 127.0.0.1 as IPv6 writes it, or nobody would reach them by that address. Who listens
   without having bound a socket would get a port of all interfaces, too: it is bound first. */

#define _DEFAULT_SOURCE
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(socket, level, name, &value, &size) == 0 ? value : -1;
}

int bind(int socket, const struct sockaddr *address, socklen_t size) {
  static const unsigned char mapped[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
  static const unsigned char mapped_any[16] = {[10] = 0xff, 0xff};
  struct sockaddr_in four;
  struct sockaddr_in6 six;
  if (address != NULL && option(socket, SOL_SOCKET, SO_TYPE) == SOCK_STREAM) {
    if (size >= sizeof four && address->sa_family == AF_INET) {
      memcpy(&four, address, sizeof four);
      if (four.sin_addr.s_addr == htonl(INADDR_ANY)) four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address = (const struct sockaddr *)&four;
      size = sizeof four;
    } else if (size >= sizeof six && address->sa_family == AF_INET6) {
      memcpy(&six, address, sizeof six);
      if (memcmp(&six.sin6_addr, mapped_any, sizeof mapped_any) == 0 ||
          (IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) && option(socket, IPPROTO_IPV6, IPV6_V6ONLY) == 0))
        memcpy(&six.sin6_addr, mapped, sizeof mapped);
      else if (IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr))
        six.sin6_addr = in6addr_loopback;
      address = (const struct sockaddr *)&six;
      size = sizeof six;
    }
  }
  return (int)syscall(SYS_bind, socket, address, size);
}

int listen(int socket, int backlog) {
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } address;
  socklen_t size = sizeof address;
  /* The port is at the same place in both. */
  if (getsockname(socket, &address.any, &size) == 0 && address.four.sin_port == 0 &&
      (address.any.sa_family == AF_INET || address.any.sa_family == AF_INET6) && bind(socket, &address.any, size) != 0)
    return -1;
  return (int)syscall(SYS_listen, socket, backlog);
}
