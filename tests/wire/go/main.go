// go-sql-driver/mysql: prepared statements, interpolation, transactions, errors, times, concurrency, TLS.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

func must(err error) {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

func expect(want, got any) {
	if want != got {
		log.Output(2, fmt.Sprintf("want %v, got %v", want, got))
		os.Exit(1)
	}
}

func number(err error) uint16 {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return server.Number
	}
	return 0
}

func main() {
	place := fmt.Sprintf("root@tcp(%s:%s)/", os.Getenv("WIRE_HOST"), os.Getenv("WIRE_PORT"))
	root, err := sql.Open("mysql", place)
	must(err)
	_, err = root.Exec("DROP DATABASE IF EXISTS wire_go")
	must(err)
	_, err = root.Exec("CREATE DATABASE wire_go")
	must(err)
	for _, options := range []string{"?parseTime=true", "?parseTime=true&interpolateParams=true", "?parseTime=true&tls=skip-verify"} {
		db, err := sql.Open("mysql", place+"wire_go"+options)
		must(err)
		_, err = db.Exec("DROP TABLE IF EXISTS kinds")
		must(err)
		_, err = db.Exec("CREATE TABLE kinds (id BIGINT PRIMARY KEY AUTO_INCREMENT, small SMALLINT UNSIGNED, name VARCHAR(30), at DATETIME(3), ratio DOUBLE, raw VARBINARY(10))")
		must(err)
		at := time.Date(2024, 2, 29, 1, 2, 3, 456000000, time.UTC)
		result, err := db.Exec("INSERT INTO kinds (small, name, at, ratio, raw) VALUES (?,?,?,?,?)", 65535, "it's", at, -0.125, []byte{0, 255})
		must(err)
		id, err := result.LastInsertId()
		must(err)
		expect(int64(1), id)
		var small int
		var name string
		var when time.Time
		var ratio float64
		var raw []byte
		must(db.QueryRow("SELECT small, name, at, ratio, raw FROM kinds WHERE id = ?", id).Scan(&small, &name, &when, &ratio, &raw))
		expect(65535, small)
		expect("it's", name)
		expect(true, when.Equal(at))
		expect(-0.125, ratio)
		expect("\x00\xff", string(raw))
		_, err = db.Exec("INSERT INTO kinds (id) VALUES (?)", 1)
		expect(uint16(1062), number(err))
		tx, err := db.Begin()
		must(err)
		_, err = tx.Exec("UPDATE kinds SET name = NULL")
		must(err)
		must(tx.Rollback())
		must(db.QueryRow("SELECT name FROM kinds").Scan(&name))
		expect("it's", name)
		_, err = db.Exec("UPDATE kinds SET small = 20000")
		must(err)
		var group sync.WaitGroup
		for worker := 0; worker < 16; worker++ {
			group.Add(1)
			go func() {
				defer group.Done()
				for turn := 0; turn < 50; turn++ {
					_, err := db.Exec("UPDATE kinds SET small = small - 1 WHERE id = ?", 1)
					must(err)
				}
			}()
		}
		group.Wait()
		must(db.QueryRow("SELECT small FROM kinds WHERE id = 1").Scan(&small))
		expect(20000-800, small)
		must(db.Close())
	}
	_, err = root.Exec("DROP DATABASE wire_go")
	must(err)
}
