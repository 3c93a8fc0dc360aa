# The program, with its sample inside, the licences of its crates, and the certificates that TLS is checked against; nothing else.
# To use it:
#   docker build --tag wikitrail .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" wikitrail run
FROM rust:1.95-alpine AS build
RUN apk add --no-cache ca-certificates gcc make musl-dev python3
WORKDIR /build
COPY . .
# On Alpine the program is linked statically.
RUN cargo build --locked --profile dist --features parquet
RUN python3 scripts/third_party.py "$(rustc -vV | sed -n 's/^host: //p')" >THIRD-PARTY.txt

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /build/target/dist/wikitrail /wikitrail
COPY --from=build /build/THIRD-PARTY.txt /THIRD-PARTY.txt
LABEL org.opencontainers.image.title="wikitrail" org.opencontainers.image.licenses="MIT OR Apache-2.0"
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/wikitrail"]
